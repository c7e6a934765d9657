/** The filters of the order list, as buttons with menus. A change goes to the URL at once. */
import { Button, Checkbox, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { knownTypes, statusChoices } from "../design/status.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import type { QueryChange } from "../shell/address.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { FilterButton } from "./filter-button.tsx";
import {
  configured,
  dayOf,
  filters,
  isMoment,
  type makeFilters,
  rangeSince,
  toggle,
  useKnown,
  valuesOf,
} from "./order-query.ts";

type Choice = {
  readonly value: string;
  readonly label: string;
  /** The list of choices shows this element, or else `label`. */
  readonly shown?: ReactNode;
  readonly meaning?: string;
};

const networks = ["VISA", "MASTERCARD", "MAESTRO", "AMEX", "DISCOVER", "DINERS", "JCB", "UNIONPAY"];

/** The endings of stage names in the merchant's status response, as in `sale_approved`. */
const ends = ["processing", "unknown", "approved", "declined", "error"];
const stages = [
  ...["sale", "auth"].flatMap((kind) =>
    [...ends, "3d_validating", "filtered"].map((end) => `${kind}_${end}`),
  ),
  ...["av_approved", "av_declined"],
  ...[...ends, "filtered"].map((end) => `payout_${end}`),
  ...["capture", "reversal", "cancel"].flatMap((kind) => ends.map((end) => `${kind}_${end}`)),
  ...ends.map((end) => `void_${end === "declined" ? "rejected" : end}`),
];

/** The results of charges, which the home screen counts: captures and refunds do not matter. */
const outcomes = ["approved", "declined", "filtered", "error", "processing"] as const;

export function Filters() {
  const messages = useMessages();
  const { data: known } = useKnown();
  const { isOperator } = useUser();
  const { query } = useAddress();
  const { types, statuses } = messages;
  const choices = {
    status: statusChoices(messages),
    type: knownTypes.map((value) => ({ value, label: types[value] })),
    stage: stages.map(sameLabel),
    network: networks.map(sameLabel),
    currency: known?.currencies.map(sameLabel) ?? [],
    outcome: outcomes.map((value) => ({ value, label: statuses[value] })),
    reason: valuesOf(query, "reason").map((value) => ({ value, label: messages.reasonOf(value) })),
    threeds: Object.entries(messages.threedsNames).map(([value, label]) => ({ value, label })),
    ...configured(known),
  };
  const names = ["status", "type", "currency", "network", "endpoint"] as const;
  const own = isOperator ? (["gate", "merchant"] as const) : [];
  // These filters are only shown if the URL sets them, as links from the home screen's figures do.
  const counted = (["outcome", "reason", "threeds"] as const).filter((name) => query.has(name));
  const shown = [...names, ...own, "stage" as const, ...counted];
  const offered = shown.map((name) => ({ name, label: messages[name], choices: choices[name] }));
  return <FilterBar offered={offered} own={filters} />;
}

type BarProps = {
  readonly offered: readonly {
    readonly name: string;
    readonly label: string;
    readonly choices: readonly Choice[];
    readonly isSingle?: boolean;
  }[];
  readonly own: ReturnType<typeof makeFilters>;
  /** Shown between the filters with choices and the date. */
  readonly children?: ReactNode;
};

/** The row of filters of any list that can be filtered by date. */
export function FilterBar({ offered, own, children }: BarProps) {
  const messages = useMessages();
  const { query } = useAddress();
  return (
    <div className="line filters">
      {offered.map(({ name, label, choices, isSingle = false }) => (
        <ChoiceFilter
          key={name}
          label={label}
          choices={choices}
          chosen={valuesOf(query, name)}
          // The gateway lists the orders of one merchant or of all, so only one can be chosen.
          isSingle={isSingle || name === "merchant"}
          choose={(values) => changeFilter({ [name]: values.join(",") })}
        />
      ))}
      {children}
      <DateFilter change={changeFilter} />
      {own.isFiltered(query) && (
        <Button variant="subtle" color="gray" onClick={() => changeQuery(own.withoutFilters)}>
          {messages.clearFilters}
        </Button>
      )}
    </div>
  );
}

/** Shows the list's beginning, because the present page belongs to the list before the change. */
export function changeFilter(change: QueryChange, options?: { readonly replaces: boolean }): void {
  changeQuery({ ...change, after: undefined, row: undefined }, options);
}

function sameLabel(value: string): Choice {
  return { value, label: value };
}

type ChoiceProps = {
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly isSingle?: boolean;
  readonly choose: (values: readonly string[]) => void;
};

function ChoiceFilter({ label, choices, chosen, isSingle = false, choose }: ChoiceProps) {
  const labelOf = (value: string) =>
    choices.find((choice) => choice.value === value)?.label ?? value;
  return (
    <FilterButton label={label} chosen={chosen.map(labelOf).join(", ")} clear={() => choose([])}>
      {choices.map(({ value, label: text, shown, meaning }) => (
        <Checkbox
          key={value}
          size="xs"
          label={shown ?? text}
          description={meaning}
          checked={chosen.includes(value)}
          onChange={() => choose(toggle(chosen, value, isSingle))}
        />
      ))}
    </FilterButton>
  );
}

type DateFilterProps = {
  readonly change: (range: Readonly<Record<"from" | "until", string | undefined>>) => void;
};

const ranges = [
  { name: "today", days: 0 },
  { name: "sevenDays", days: 6 },
  { name: "thirtyDays", days: 29 },
] as const;

/** The user picks a common range, or a first and a last day. */
function DateFilter({ change }: DateFilterProps) {
  const { messages, showDay, showTime } = useLanguage();
  const { query } = useAddress();
  const [from, until] = [query.get("from") ?? "", query.get("until") ?? ""];
  const show = (day: string) => {
    if (isMoment(day)) return showTime(Date.parse(day));
    return day === "" ? "…" : showDay(new Date(`${day}T12:00`).getTime());
  };
  const isSet = from !== "" || until !== "";
  const clear = () => change({ from: undefined, until: undefined });
  return (
    <FilterButton
      label={messages.date}
      chosen={isSet ? `${show(from)} – ${show(until)}` : ""}
      clear={clear}
    >
      {ranges.map(({ name, days }) => (
        <Button key={name} variant="default" onClick={() => change(rangeSince(days, new Date()))}>
          {messages[name]}
        </Button>
      ))}
      <TextInput
        type="date"
        size="xs"
        label={messages.from}
        value={isMoment(from) ? dayOf(new Date(from)) : from}
        onChange={({ currentTarget }) => change({ from: currentTarget.value, until })}
      />
      <TextInput
        type="date"
        size="xs"
        label={messages.fields.until}
        value={until}
        onChange={({ currentTarget }) => change({ from, until: currentTarget.value })}
      />
    </FilterButton>
  );
}
