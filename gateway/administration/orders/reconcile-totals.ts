/**
 * Asks the acquirer's host, by reconciliation messages (0500), whether its totals of a day are the
 * gateway's, in every currency. A currency that is out of balance is a finding.
 */
import type { Gate } from "../../acquirers/gates.ts";
import { askTotals, type Balance } from "../../acquirers/iso8583-host/totals.ts";
import type { DayTotals } from "../../orders/settlement-items.ts";
import type { Period } from "../../reconciliation/reconcile.ts";
import { makeDayTotals } from "../../reconciliation/totals.ts";
import { noteReconciled } from "../../storage/backup/installation-hold.ts";
import { putReconciliation } from "../../storage/portal/reconciliations.ts";
import { formatAmount, Money } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { systemClock } from "../../values/time.ts";
import { type Output, Report, type Session } from "../session.ts";
import { expectOrders } from "./reconcile-day.ts";

type Asked = { readonly period: Period; readonly day: string };

export async function reconcileTotals(
  session: Session,
  gate: Gate,
  { period, day }: Asked,
): Promise<Output> {
  const totals = await readTotals(session, gate, { ...period, windowMs: 0 });
  if (totals.length === 0) {
    return new Problem(
      `Nothing moved through ${gate.name} on ${day}, and it names no currencies to ask about.`,
    );
  }
  const { answerTimeoutMs } = session.config;
  const options = { clock: systemClock, answerTimeoutMs };
  const balances = await askTotals(gate, { day: period.from, totals }, options);
  if (balances instanceof Problem) return balances;
  await noteReconciled(session.database.query, gate.name, day);
  const agrees = balances.every((balance) => balance === "in balance");
  if (!agrees) session.findings.note();
  const described = totals.map((each, at) => describe(each, balances[at]));
  const result = { gate: gate.name, day, agrees, totals: described };
  await putReconciliation(session.database.query, "totals", session.actor.who, result);
  const word = agrees ? "in balance" : "out of balance";
  const rows = totals.map((each, at) => show(each, balances[at]));
  return new Report(result, { gate: gate.name, day, result: word }, rows);
}

async function readTotals(session: Session, gate: Gate, period: Period) {
  const books = makeDayTotals(gate.id, period);
  await expectOrders(session, period, books);
  return books.totals(gate.settings.currencies);
}

const names = ["debits", "debitReversals", "credits"] as const;

function describe(totals: DayTotals, balance: Balance | undefined) {
  const sums = names.map((name) => {
    const { count, minor } = totals[name];
    return [name, { count, minor: String(minor) }];
  });
  return { currency: totals.currency.code, balance, ...Object.fromEntries(sums) };
}

function show({ currency, debits, debitReversals, credits }: DayTotals, result?: Balance) {
  const amount = (minor: bigint) => formatAmount(new Money(minor, currency));
  return {
    currency: currency.code,
    debits: debits.count,
    sum: amount(debits.minor),
    reversals: debitReversals.count,
    "sum reversed": amount(debitReversals.minor),
    refunds: credits.count,
    "sum refunded": amount(credits.minor),
    result,
  };
}
