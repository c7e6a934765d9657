/** The page of the orders' lives: each transition table as a drawing and as a table. */
import { carriedEffects, immediateEffects, writtenEffects } from "../../gateway/orders/effects.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { TransactionKind } from "../../gateway/orders/order.ts";
import { beginnings, tables } from "../../gateway/orders/transitions.ts";
import { settings } from "../../gateway/settings.ts";
import { list, mono, page, sentence, table } from "./markdown.ts";
import { effectMeanings, eventMeanings } from "./order-words.ts";
import { likeSection, tableSection } from "./transition-sections.ts";
import { cellsOf, transactionKinds } from "./transition-tables.ts";

export function renderOrdersPage(): string {
  return page(
    "gateway/orders",
    "Orders",
    "An order changes in exactly one place, by meeting an event. It begins with one transaction " +
      "(a sale, a preauthorisation or an account verification); a capture and returns may " +
      "follow, one at a time. The table of a transaction says what an event means in a stage: " +
      "the next stage, and the effect that is owed then. An event without a cell is refused and " +
      "changes nothing.",
    "A deadline is set when a stage is entered. It is kept while events lead back to the same " +
      "stage, and begins again when it has passed and the order is still in the stage.",
    ...tableSection("sale", "A sale"),
    ...likeSection("preauth", "sale", "A preauthorisation"),
    "What differs is what may follow an approval, because the money is held and not taken.",
    ...likeSection("account-verification", "sale", "An account verification"),
    "No money is asked for, so that none can be approved in part; and nothing may follow.",
    "## What may follow",
    ...followUps(),
    ...tableSection("capture", "A capture"),
    ...tableSection("reversal", "A return of money that was taken"),
    ...likeSection("cancel", "reversal", "A cancel of what is held"),
    "## Events",
    table(["Event", "What has happened"], eventRows()),
    "`claimed` and `noted` are met in every stage and leave the order in it.",
    "## Effects",
    ...effects(),
    repeats(),
  );
}

function followUps(): readonly string[] {
  return [
    table(
      ["After", "Capture", "Return"],
      [
        [
          "an approved sale",
          "no",
          "gives back what was charged: all of it, or parts until nothing is left",
        ],
        [
          "an approved preauthorisation",
          "takes what is held: all of it or a part, once; the rest of the hold ends with it",
          "a cancel: lets go of all that is held, never of a part",
        ],
        [
          "its approved capture",
          "no",
          "gives back what was captured: all of it, or parts until nothing is left",
        ],
        ["its approved cancel", "no", "no"],
        ["an approved account verification", "no", "no"],
        ["an order that is not approved", "no", "no"],
        ["a capture or return that was declined or failed", "as before it", "as before it"],
      ],
    ),
    list(
      "Only approved transactions count. A capture or return that was declined or failed leaves " +
        "the order as it was.",
      "One transaction of an order is on its way at a time. Until it has a result, no other " +
        "begins; an order that is still owed a reversal is on its way as well.",
      "A part is possible where the gate can do parts. The rest after a part is a part too.",
      "The identical request (operation, amount or its absence, comment) is a repeat while its " +
        "transaction is open or approved: it begins nothing, and gets the first acknowledgement " +
        "again. After a decline or a failure it begins a new transaction.",
      "Doubt about a capture or return is settled by repeating it: the message says that it is a " +
        "repeat, the acquirer does a repeated one once, and its answer is the result.",
    ),
  ];
}

function eventRows(): readonly (readonly string[])[] {
  const known: readonly EventKind[] = transactionKinds.flatMap((kind) =>
    cellsOf(tables[kind]).map((each) => each.kind),
  );
  const everywhere: readonly EventKind[] = ["claimed", "noted"];
  const begins: readonly EventKind[] = ["received", "capture_asked", "return_asked"];
  const kinds = [...new Set([...begins, ...known, ...everywhere])];
  return kinds.map((kind) => [mono(kind), sentence(eventMeanings[kind])]);
}

function effects(): readonly string[] {
  return [
    list(
      "An immediate effect is decided from memory, and what comes of it is committed together " +
        "with the step that owes it.",
      "A carried effect waits for somebody else. It is owed in the order's row, so that any node " +
        "can take it up when the one that had it goes silent.",
      ...(writtenEffects.length > 0
        ? ["A written effect is done by the commit itself, in the same transaction."]
        : []),
    ),
    table(["Effect", "Kind", "What is done"], effectRows()),
  ];
}

function effectRows(): readonly (readonly string[])[] {
  const owed = new Set(transactionKinds.flatMap(effectsOf));
  const kinds = [
    ...immediateEffects.map((effect) => [effect, "immediate"] as const),
    ...carriedEffects.map((effect) => [effect, "carried"] as const),
    ...writtenEffects.map((effect) => [effect, "written"] as const),
  ];
  return kinds
    .filter(([effect]) => owed.has(effect))
    .map(([effect, kind]) => [mono(effect), kind, sentence(effectMeanings[effect])]);
}

function effectsOf(kind: TransactionKind) {
  return [beginnings[kind].effect, ...cellsOf(tables[kind]).map(({ cell }) => cell.effect)];
}

function repeats(): string {
  const { name, production } = settings.reversalGapsMs;
  const gaps = production.map((gapMs) => gapMs / 1000).join(", ");
  return (
    `An unanswered reversal, capture or return is repeated after ${gaps} seconds ` +
    `(${mono(name)}), and then at the last of these gaps until the acquirer has answered.`
  );
}
