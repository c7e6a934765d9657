/** The allow and block lists, filtered by the address, with the latest entries first. */
import { NativeSelect } from "@mantine/core";
import { ActionButton } from "../actions/action-button.tsx";
import { useRows } from "../actions/values.ts";
import { Mark, PrintedTime } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { listValues, pageOf } from "./rules.ts";

const kinds = [
  ...["card", "email", "phone", "ip", "email-domain", "bin", "purpose"],
  ...["issuer-country", "payer-country"],
];

const right = "change_merchants";

export function Lists() {
  const messages = useMessages();
  const { may } = useUser();
  const { choices, everywhere } = messages;
  const found = useRows("list show", listValues(useAddress().query));
  return (
    <>
      <div className="line inline-form">
        <Choice name="list" words={["allow", "block"]} every={messages.bothLists} />
        <Choice name="kind" words={kinds} every={messages.everyKind} />
        <div className="space" />
        <ActionButton action="list import" />
        <ActionButton action="list add" isMain />
      </div>
      <List
        found={{ ...found, data: found.data && pageOf(found.data) }}
        rowsOf={({ rows }) => rows}
        none={[messages.noListEntries, messages.noListEntriesHint]}
        keyOf={({ entry = "" }) => entry}
        columns={[
          [messages.fields.value, ({ value }) => <b>{value}</b>, "wide"],
          [
            messages.fields.list,
            ({ list = "" }) => (
              <Mark kind={list === "allow" ? "approved" : "declined"}>{wordIn(choices, list)}</Mark>
            ),
          ],
          [messages.fields.kind, ({ kind = "" }) => wordIn(choices, kind), "quiet"],
          [
            messages.countsFor,
            ({ counts }) => (counts === "everywhere" ? everywhere : counts),
            "quiet",
          ],
          [messages.reason, ({ reason }) => reason, "wide"],
          [messages.expires, ({ expires }) => <PrintedTime text={expires || "–"} />, "quiet"],
        ]}
        actions={
          may(right) &&
          (({ entry = "", value }) => (
            <ActionButton name={value} action="list remove" values={{ entries: [entry] }} />
          ))
        }
      />
    </>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly words: readonly string[];
  readonly every: string;
};

function Choice({ name, words, every }: ChoiceProps) {
  const { choices } = useMessages();
  const { query } = useAddress();
  return (
    <NativeSelect
      aria-label={every}
      data={[
        { value: "", label: every },
        ...words.map((word) => ({ value: word, label: wordIn(choices, word) })),
      ]}
      value={query.get(name) ?? ""}
      onChange={({ currentTarget }) =>
        changeQuery({ [name]: currentTarget.value, after: "" }, { replaces: true })
      }
    />
  );
}
