/** The screen of screening: rules, allow and block lists, and a trial of rules on past orders. */
import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { usePerformer } from "../actions/performer.tsx";
import { useRows } from "../actions/values.ts";
import { Head, Mark, PrintedTime, Tabs } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Refusal } from "../design/states.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { call, useAnswer } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { RuleTable } from "./rule-table.tsx";
import { listValues, pageOf, type Report, reportRows, trialValues } from "./rules.ts";

export function Screening() {
  const messages = useMessages();
  return (
    <div className="screen stack">
      <Head title={messages.screening} />
      <Tabs
        path="screening"
        tabs={[
          ["rules", messages.rules, () => <Rules />],
          ["lists", messages.lists, () => <Lists />],
          ["trial", messages.trial, () => <Trial />],
        ]}
      />
    </div>
  );
}

function Rules() {
  const messages = useMessages();
  const { may } = useUser();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /rules", after ? { after } : {}, { keepsBefore: true });
  return (
    <>
      {may("change_merchants") && <NewRule kinds={found.data?.kinds ?? []} />}
      <List
        found={found}
        rowsOf={({ rules }) => rules}
        none={[messages.noRules, messages.noRulesHint]}
        isByName
      >
        {(rules) => <RuleTable rules={rules} />}
      </List>
    </>
  );
}

function NewRule({ kinds }: { readonly kinds: readonly string[] }) {
  const messages = useMessages();
  const kind = useAddress().query.get("kind") ?? kinds[0] ?? "";
  const nameOf = (each: string) => wordIn(messages.ruleKinds, each);
  return (
    <div className="line inline-form">
      <NativeSelect
        aria-label={messages.kindOfRule}
        data={kinds.map((each) => ({ value: each, label: nameOf(each) }))}
        value={kind}
        onChange={({ currentTarget }) =>
          changeQuery({ kind: currentTarget.value }, { replaces: true })
        }
      />
      <ActionButton key={kind} action={`filter add ${kind}`} isMain />
    </div>
  );
}

const kinds = [
  ...["card", "email", "phone", "ip", "email-domain", "bin", "purpose"],
  ...["issuer-country", "payer-country"],
];

const right = "change_merchants";

function Lists() {
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

/** The trial shows what rules would have done to past orders, and changes nothing. */
function Trial() {
  const messages = useMessages();
  const [rule, setRule] = useState("");
  const [since, setSince] = useState("");
  const run = usePerformer(
    async () => {
      const given = { action: "filter try", values: trialValues(rule, since) };
      const { result } = await call("POST /actions/run", given);
      // The compiler cannot know that the action `filter try` returns a `Report`.
      return result as Report;
    },
    { changes: "nothing" },
  );
  return (
    <>
      <form className="line inline-form" onSubmit={submitting(() => run.mutate())}>
        <TextInput
          w={320}
          label={messages.rules}
          placeholder={messages.rulesToTry}
          value={rule}
          onChange={({ currentTarget }) => setRule(currentTarget.value)}
        />
        <TextInput
          type="date"
          label={messages.fields.since}
          value={since}
          onChange={({ currentTarget }) => setSince(currentTarget.value)}
        />
        <Button type="submit" size="sm" loading={run.isPending}>
          {messages.tryRules}
        </Button>
      </form>
      <p className="quiet">{messages.trialHint}</p>
      <Refusal text={run.error?.message} />
      {run.data !== undefined && <ReportTable report={run.data} />}
    </>
  );
}

function ReportTable({ report }: { readonly report: Report }) {
  const messages = useMessages();
  return (
    <>
      <Table
        className="rows stacked still small"
        rows={reportRows(report, messages)}
        keyOf={({ key }) => key}
        columns={[
          [messages.result, ({ name }) => name],
          [messages.orders, ({ counts }) => counts.orders, "number"],
          [messages.paid, ({ counts }) => counts.paid, "number plain"],
          [messages.returned, ({ counts }) => counts.refunded, "number plain"],
          [messages.chargedBack, ({ counts }) => counts.chargedBack, "number plain"],
        ]}
      />
      {report.notes.map((note) => (
        <p key={note} className="quiet">
          {note}
        </p>
      ))}
    </>
  );
}
