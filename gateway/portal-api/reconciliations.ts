/** Reconciliations for the portal: the reconciled days, and one day with every difference. */
import type { ReconciliationReads } from "../storage/portal/reconciliations.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, Money } from "../values/money.ts";
import { isDay } from "../values/time.ts";
import type { Handlers } from "./api.ts";
import type { ReconciliationLine, ReconciliationView } from "./configuration-routes.ts";
import { notFound } from "./route.ts";

type Cursor = Pick<ReconciliationLine, "day" | "gate" | "way">;

export type ReconciliationOptions = { readonly reconciliations: ReconciliationReads };

export function reconciliationHandlers({ reconciliations }: ReconciliationOptions) {
  return {
    async "GET /reconciliations"({ gate, after, limit = 50 }) {
      const rows = await reconciliations.list({ gate, after: readCursor(after), limit });
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const next = last && { next: [last.day, last.way, last.gate].join("/") };
      return { reconciliations: rows, ...next };
    },

    async "GET /reconciliations/:gate/:day"({ gate, day, way = null }) {
      const found = await reconciliations.find({ gate, day, way });
      if (found === undefined) return notFound;
      const { result, ...line } = found;
      const { totals = [], differences = [] } = result as Partial<Stored>;
      return { line, totals: totals.flatMap(viewTotal), differences };
    },
  } satisfies Partial<Handlers>;
}

/** Reads a position like `2026-01-31/file/gate-1`. The name of a gate contains no slash. */
function readCursor(text: string | undefined): Cursor | undefined {
  if (text === undefined) return undefined;
  const [day = "", way = "", gate = ""] = text.split("/");
  return isDay(day) && (way === "file" || way === "totals") ? { day, way, gate } : nothingAfter;
}

const nothingAfter = { day: "0001-01-01", way: "file", gate: "" } as const;

type Sums = { readonly count: number; readonly minor: string };
type FileTotal = { readonly kind: string; readonly here: Sums; readonly there: Sums };
type HostTotal = {
  readonly balance?: string;
  readonly debits: Sums;
  readonly debitReversals: Sums;
  readonly credits: Sums;
};
type Stored = {
  readonly totals: readonly ({ readonly currency: string } & (FileTotal | HostTotal))[];
  readonly differences: ReconciliationView["differences"];
};

/**
 * A settlement file has the acquirer's totals for each kind of transaction. An acquirer's host only
 * says whether its totals equal the gateway's, so only the gateway's totals are shown.
 */
function viewTotal(total: Stored["totals"][number]): ReconciliationView["totals"] {
  const { currency } = total;
  const amount = ({ minor }: Sums) => formatAmount(new Money(BigInt(minor), getCurrency(currency)));
  if ("kind" in total) {
    const { kind, here, there } = total;
    const counts = { countHere: here.count, countThere: there.count };
    return [{ currency, kind, ...counts, here: amount(here), there: amount(there) }];
  }
  const { balance } = total;
  const sides = { sale: total.debits, reversal: total.debitReversals, refund: total.credits };
  return Object.entries(sides).map(([kind, sums]) => ({
    currency,
    kind,
    countHere: sums.count,
    here: amount(sums),
    ...(balance !== undefined && { balance }),
  }));
}
