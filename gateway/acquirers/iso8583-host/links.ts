/**
 * The links of a gate: independent connections over its addresses. A message goes over the link
 * with the fewest requests in flight. The loss of a link puts only its own requests in doubt.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { daysLeft, makeCertificateReader } from "../../certificates/certificate-files.ts";
import { type Addresses, addressesOf, certificateFilesOf, type GateSettings } from "../gates.ts";
import { Link, type LinkOptions, type LinkState, type SendLimit } from "./link.ts";
import type { Ending } from "./pending-answers.ts";

/** A process's share of a gate's connections. The first of four has `{ place: 0, of: 4 }`. */
export type LinkShare = { readonly place: number; readonly of: number };

type LinksOptions = Omit<
  LinkOptions,
  "addresses" | "tls" | "signsOn" | "zone" | "isSpare" | "events"
> & {
  readonly settings: GateSettings;
  /** If absent, this process opens all of the gate's connections. */
  readonly share?: LinkShare | undefined;
  readonly events: Omit<LinkOptions["events"], "onState"> & {
    readonly onState: (state: LinkState, facts: LinkFacts) => void;
    /** Called if the certificate files cannot be used now. Those that were read before are used. */
    readonly onCertificateFault: (cause: string) => void;
    /** `days` are those of the client certificate that a connection is about to send. */
    readonly onCertificateExpiring: (days: number) => void;
    readonly onReady: () => void;
  };
};

export type LinkFacts = {
  readonly why: string;
  readonly address: string;
  /** The number of the connection, from 1. */
  readonly connection: number;
};

export class Links {
  readonly #links: readonly Link[];
  #turn = 0;

  constructor(options: LinksOptions) {
    const { settings, events } = options;
    const addresses = addressesOf(settings);
    const tls = settings.tls === true ? tlsOf(options) : undefined;
    this.#links = placesOf(settings, options.share).map((index) => {
      const link: Link = new Link({
        ...options,
        tls,
        signsOn: settings.signOn !== false,
        zone: settings.zone,
        addresses: rotate(addresses, index),
        isSpare: () => this.#links.some((other) => other !== link && other.isReady()),
        events: {
          ...events,
          onState: (state, why, { host, port }) => {
            events.onState(state, { why, address: `${host}:${port}`, connection: index + 1 });
            if (state === "online") events.onReady();
          },
        },
      });
      return link;
    });
  }

  open(): void {
    for (const link of this.#links) link.open();
  }

  isReady(): boolean {
    return this.#links.some((link) => link.isReady());
  }

  get connections() {
    const up = this.#links.filter((link) => link.isReady()).length;
    return { up, wanted: this.#links.length };
  }

  /** `not_sent` guarantees that nothing was sent. Any other ending leaves that open. */
  send(message: IsoMessage, limit: SendLimit): Promise<Ending | "not_sent"> {
    return this.#choose()?.send(message, limit) ?? Promise.resolve("not_sent");
  }

  /** Each link waits for its answers within a time limit, signs off and closes. */
  async close(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()));
  }

  /** Chooses the link with the fewest requests in flight. Equal links take turns. */
  #choose(): Link | undefined {
    const { length } = this.#links;
    let chosen: Link | undefined;
    this.#turn = (this.#turn + 1) % length;
    for (let step = 0; step < length; step += 1) {
      const link = this.#links[(this.#turn + step) % length];
      if (link?.isReady() !== true) continue;
      if (chosen === undefined || link.inFlight < chosen.inFlight) chosen = link;
    }
    return chosen;
  }
}

/**
 * Returns the numbers, from 0, of this process's connections. It opens at least one, because
 * without one it could process no orders for the gate.
 */
function placesOf(settings: GateSettings, { place, of }: LinkShare = { place: 0, of: 1 }) {
  const count = settings.connections ?? addressesOf(settings).length;
  const places = Array.from({ length: count }, (_, index) => index);
  const own = places.filter((index) => index % of === place);
  return own.length === 0 ? [place] : own;
}

/** Each link begins with an address of its own, if there are enough. */
function rotate(addresses: Addresses, by: number): Addresses {
  const at = by % addresses.length;
  const [first = addresses[0], ...others] = [...addresses.slice(at), ...addresses.slice(0, at)];
  return [first, ...others];
}

/** How long before its end the gateway warns of its client certificate, once a day. */
const expiryWarningDays = 30;

function tlsOf({ settings, events, clock }: LinksOptions): LinkOptions["tls"] {
  const readFiles = makeCertificateReader(certificateFilesOf(settings), events.onCertificateFault);
  let warnedOf: number | undefined;
  return {
    serverName: settings.tlsServerName,
    async read() {
      const texts = await readFiles();
      const days = daysLeft(texts.cert, clock.now());
      if (days !== undefined && days < expiryWarningDays && days !== warnedOf) {
        events.onCertificateExpiring(days);
        warnedOf = days;
      }
      return texts;
    },
  };
}
