/**
 * Merchants that pay repeatedly through the published client. Like every careful merchant, they
 * repeat the identical request until it is answered, at the gateway's current address.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Acknowledgement, type ControlOptions, makeClient } from "@tollgate/client";
import type { MerchantSet } from "@tollgate/gateway/merchant-set";
import { atEnd, type Test } from "./clean-up.ts";
import { saleFields } from "./merchant.ts";

export type Sale = { readonly fields: ReturnType<typeof saleFields>; reply?: Acknowledgement };
export type Load = {
  /** Every sale that was sent at least once. */
  readonly sales: readonly Sale[];
  readonly acknowledged: number;
  /** Begins no new sales. Resolves when all that were begun are answered. */
  finish(): Promise<void>;
  /** Stops the merchants: they begin no new sales, and repeat no unanswered request. */
  leave(): Promise<void>;
};

type LoadOptions = {
  readonly set: MerchantSet;
  /** Returns the gateway's current address, for each attempt. */
  readonly url: () => string;
  readonly clients: number;
  /** The number of sales. Without it, sales continue until the load is finished. */
  readonly sales?: number;
};

const placeholder = "http://gateway.invalid";
/** Enough for a restart in between, but limited so that a test that hangs ends. */
const triesMax = 3_000;
const gapMaxMs = 100;

export type Merchants = Pick<LoadOptions, "set" | "url">;

/** The options of a careful merchant's client. */
export const patience = {
  tries: triesMax,
  timeoutMs: 60_000,
  timing: {
    now: () => performance.now(),
    random: () => Math.random(),
    pause: async (durationMs: number, signal?: AbortSignal) => {
      await pause(Math.min(durationMs, gapMaxMs), undefined, { signal });
    },
  },
};

/** Makes the client of a careful merchant, to replace the plain client. */
export const makePatientClient = ((options: ControlOptions) =>
  makeClient({ ...options, ...patience })) as typeof makeClient;

export function makeLoadClient({ set, url }: Merchants) {
  const client = makeClient({
    baseUrl: placeholder,
    login: set.login,
    controlKey: set.controlKey,
    ...patience,
    fetch: (address, request) => fetch(address.replace(placeholder, url()), request),
  });
  return client.endpoint(set.endpoints["plain"] ?? "");
}

export function startLoad(t: Test, options: LoadOptions): Load {
  const endpoint = makeLoadClient(options);
  const salesMax = options.sales ?? Number.POSITIVE_INFINITY;
  const sales: Sale[] = [];
  const gone = new AbortController();
  let finishing = false;

  async function pay(): Promise<void> {
    while (!finishing && sales.length < salesMax) {
      const sale: Sale = { fields: saleFields() };
      sales.push(sale);
      sale.reply = await endpoint.sale(sale.fields, { signal: gone.signal });
    }
  }

  async function leave(): Promise<void> {
    finishing = true;
    gone.abort();
    await paying;
  }

  // This also happens if the test fails, so that no merchant keeps paying after it.
  atEnd(t, leave);
  const paying = Promise.allSettled(Array.from({ length: options.clients }, pay));
  return {
    sales,
    get acknowledged() {
      return sales.filter(({ reply }) => reply !== undefined).length;
    },
    async finish() {
      // A load with a number of sales continues until all are done.
      finishing = options.sales === undefined;
      for (const ended of await paying) if (ended.status === "rejected") throw ended.reason;
    },
    leave,
  };
}
