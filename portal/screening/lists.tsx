/** The allow and block lists, by their filters in the address; the latest entries first. */
import { NativeSelect } from "@mantine/core";
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { LoadedPart, Mark, PrintedTime } from "../design/details.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { changeQuery, usePlace } from "../shell/url.tsx";
import { listValues, pageOf } from "./rules.ts";

const kinds = [
  ...["card", "email", "phone", "ip", "email-domain", "bin", "purpose"],
  ...["issuer-country", "payer-country"],
];

export function Lists({ mayChange }: { readonly mayChange: boolean }) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const isFirst = (query.get("after") ?? "") === "";
  const found = useRows("list show", listValues(query));
  return (
    <>
      <div className="inline-form">
        <Choice name="list" words={["allow", "block"]} every={messages.bothLists} />
        <Choice name="kind" words={kinds} every={messages.everyKind} />
        <div className="space" />
        {mayChange && (
          <>
            <ActionButton action="list import" label={messages.importList} />
            <ActionButton action="list add" label={messages.newEntry} isMain />
          </>
        )}
      </div>
      <LoadedPart query={found}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing title={messages.noEntries} hint={messages.noEntriesHint} />
          ) : (
            <>
              <EntryTable rows={pageOf(rows).rows} mayChange={mayChange} />
              <Pages text="" next={pageOf(rows).next} isFirst={isFirst} />
            </>
          )
        }
      </LoadedPart>
    </>
  );
}

type ChoiceProps = {
  readonly name: string;
  readonly words: readonly string[];
  readonly every: string;
};

function Choice({ name, words, every }: ChoiceProps) {
  const { choices } = useConfigurationMessages();
  const { query } = usePlace();
  return (
    <NativeSelect
      aria-label={every}
      data={[
        { value: "", label: every },
        ...words.map((word) => ({ value: word, label: choices[word] ?? word })),
      ]}
      value={query.get(name) ?? ""}
      onChange={({ currentTarget }) =>
        changeQuery({ [name]: currentTarget.value, after: "" }, { replaces: true })
      }
    />
  );
}

type TableProps = { readonly rows: readonly Row[]; readonly mayChange: boolean };

function EntryTable({ rows, mayChange }: TableProps) {
  const messages = useConfigurationMessages();
  const { choices, everywhere, fields, things } = messages;
  return (
    <StackedTable
      rows={rows}
      keyOf={({ entry = "" }) => entry}
      columns={[
        [messages.value, ({ value }) => <b>{value}</b>, "wide"],
        [
          messages.list,
          ({ list = "" }) => (
            <Mark kind={list === "allow" ? "approved" : "declined"}>{choices[list] ?? list}</Mark>
          ),
        ],
        [messages.kind, ({ kind = "" }) => choices[kind] ?? kind, "quiet"],
        [
          messages.countsFor,
          ({ counts }) => (counts === "everywhere" ? everywhere : counts),
          "quiet",
        ],
        [fields["reason"] ?? "", ({ reason }) => reason, "wide"],
        [messages.expires, ({ expires }) => <PrintedTime text={expires || "–"} />, "quiet"],
      ]}
      actions={
        mayChange &&
        (({ entry = "", value }) => (
          <ActionButton
            action="list remove"
            label={messages.remove}
            title={messages.named.remove(`${things.entry} ${value}`)}
            isDangerous
            values={{ entries: [entry] }}
          />
        ))
      }
    />
  );
}
