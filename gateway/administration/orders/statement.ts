/**
 * Prints a merchant's statement by day and currency with its balances, and books settlements, which
 * are the operator's payments to the merchant.
 */
import { Readable } from "node:stream";
import { printBalance, printDay, readDays, statementColumns } from "../../report/statement.ts";
import { addSettlement, listSettlements, makeStatements } from "../../storage/portal/statements.ts";
import { findCurrency, getCurrency } from "../../values/iso-codes.ts";
import { formatSum, isZero, parseAmount } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { flag, onlyOnCommandLine, option, required } from "../field.ts";
import { endpointsOf, findLimitFault, limit, login, onMerchant, ownerByLogin } from "../find.ts";
import { Report, Rows } from "../session.ts";

export const statementActions: readonly Action[] = [
  action("look", "see_orders", {
    name: "statement",
    does: [
      "print a merchant's statement by day and currency, and what it is owed",
      "die Abrechnung eines Händlers je Tag und Währung zeigen, und was ihm zusteht",
    ],
    findOwner: ownerByLogin,
    fields: {
      login,
      since: option("day", "YYYY-MM-DD", ["the first day", "der erste Tag"]),
      until: option("day", "YYYY-MM-DD", ["the last day", "der letzte Tag"]),
      csv: onlyOnCommandLine(flag(["print the lines as CSV, without what the merchant is owed"])),
    },
    perform: onMerchant(async ({ id }, session, given) => {
      const { cells, database, now, printDate, user } = session;
      const days = readDays(given, printDate(await now()).slice(0, 10));
      if (days === undefined) return new Problem("The days are dates like 2030-01-31, in order.");
      const { listDays, findBalances } = makeStatements(cells, database.query);
      const rows = (await listDays(id, days)).map(printDay);
      if (given.csv === true) return new Rows(Readable.from(rows), statementColumns);
      // Merchants see their balances only by `get-balance`, which the operator has to turn on.
      const isOperators = user?.merchantId === undefined;
      const balances = isOperators
        ? (await findBalances({ merchantId: id })).map(printBalance)
        : [];
      const lines = rows.length > 0 ? rows : "No money moved on these days.";
      return new Report({ rows, balances }, lines, balances);
    }),
  }),
];

const commandLineOnly = "the operator's bookkeeping books settlements";

export const settlementActions: readonly Action[] = [
  action("change", "reconcile", {
    name: "settlement book",
    does: ["book that you have paid a merchant, which lowers its balance"],
    commandLineOnly,
    fields: {
      login,
      amount: required("amount", "amount", ["what you have paid; negative to correct a booking"]),
      currency: required("currency", "code", ["its currency"]),
      reference: required("text", "text", ["your reference, which can be booked once"]),
      endpoint: option("endpoint", "id", ["if it is for this endpoint alone"]),
    },
    perform: onMerchant(async (merchant, { audit, configuration }, given) => {
      const { reference, endpoint } = given;
      const [, sign = "", digits = ""] = /^(-?)(.*)$/.exec(given.amount) ?? [];
      const currency = findCurrency(given.currency);
      const amount = currency && parseAmount(digits, currency);
      if (amount === undefined || isZero(amount)) return new Problem("This is no amount.");
      if (!/^\P{Cc}{1,100}$/u.test(reference)) return new Problem("This is no reference.");
      const own = endpointsOf(merchant, configuration).filter(({ id }) => id === (endpoint ?? id));
      const isOwn = own.some(({ currency: code }) => code === given.currency);
      if (!isOwn) return new Problem("The merchant has no such endpoint in this currency.");
      const minor = `${sign}${amount.minor}`;
      const after = { reference, endpoint: endpoint ?? null, minor, currency: given.currency };
      const isNew = await audit.change(async (query, write) => {
        const isAdded = await addSettlement(query, merchant.id, after);
        const subject = `merchant ${merchant.login}`;
        if (isAdded) await write({ action: "settlement book", subject, after });
        return isAdded;
      });
      return isNew ? given : new Problem(`A settlement ${reference} is booked already.`);
    }),
  }),
  action("look", "reconcile", {
    name: "settlement list",
    does: ["list the booked payments to a merchant, the latest first"],
    commandLineOnly,
    fields: { login, limit },
    perform: onMerchant(async ({ id }, { database, printDate }, { limit: most }) => {
      const fault = findLimitFault(most);
      if (fault !== undefined) return fault;
      const found = await listSettlements(database.query, id, Number(most));
      return found.map(({ at, reference, minor, currency, endpoint }) => {
        const amount = formatSum(BigInt(minor), getCurrency(currency));
        return { at: printDate(asInstant(at)), reference, amount, currency, endpoint };
      });
    }),
  }),
];
