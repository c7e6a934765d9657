/**
 * The filter by the day on which an order was accepted: common ranges, or a first and a last day.
 */
import { Button, TextInput } from "@mantine/core";
import { useLanguage } from "../language/language.tsx";
import { useAddress } from "../shell/url.tsx";
import { FilterButton } from "./filter-button.tsx";
import { dayOf, isMoment, rangeSince } from "./order-query.ts";

type DateFilterProps = {
  readonly change: (range: Readonly<Record<"from" | "until", string | undefined>>) => void;
};

const ranges = [
  { name: "today", days: 0 },
  { name: "sevenDays", days: 6 },
  { name: "thirtyDays", days: 29 },
] as const;

export function DateFilter({ change }: DateFilterProps) {
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
