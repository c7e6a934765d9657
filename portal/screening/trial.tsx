/** A trial: what rules would have done to past orders. It changes nothing. */

import { Button, TextInput } from "@mantine/core";
import { useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Refusal } from "../design/states.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { type Report, reportRows, trialValues } from "./rules.ts";

export function Trial() {
  const messages = useMessages();
  const [rule, setRule] = useState("");
  const [since, setSince] = useState("");
  const run = usePerformer(
    async () => {
      const given = { action: "filter try", values: trialValues(rule, since) };
      const { result } = await call("POST /actions/run", given);
      // The gateway answers this action with a report.
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
