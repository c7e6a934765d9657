/**
 * The days that were compared with the acquirers' records, and the form that compares another one.
 */
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Mark, Stamp, Tabs } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { useAddress } from "../shell/url.tsx";
import { Chargebacks } from "./chargebacks.tsx";
import { addressOf, type DayLine, stateOf } from "./day-lines.ts";

export function Reconciliation() {
  const messages = useMessages();
  const isOfDays = useAddress().query.get("tab") !== "chargebacks";
  const [imported, setImported] = useState<object>({});
  return (
    <div className="screen stack">
      <Head title={messages.reconciliation}>
        {isOfDays ? (
          <ActionButton action="reconcile" isMain />
        ) : (
          <ActionButton action="chargeback import" isMain onDone={setImported} />
        )}
      </Head>
      <Tabs
        path="reconciliation"
        tabs={[
          ["days", messages.days, () => <Days />],
          ["chargebacks", messages.chargebacks, () => <Chargebacks imported={imported} />],
        ]}
      />
    </div>
  );
}

function Days() {
  const messages = useMessages();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /reconciliations", after ? { after } : {}, { keepsBefore: true });
  return (
    <List
      found={found}
      rowsOf={({ reconciliations }) => reconciliations}
      none={[messages.noDays, messages.noDaysHint]}
      keyOf={addressOf}
      opens={addressOf}
      columns={[
        [messages.day, (line) => <Name name={line.day} to={addressOf(line)} />],
        [messages.result, (line) => <DayState line={line} />],
        [messages.gate, ({ gate }) => gate, "quiet"],
        [messages.way, ({ way }) => messages.ways[way], "quiet"],
        [messages.matched, ({ way, matched }) => (way === "file" ? matched : "–"), "number plain"],
        [messages.compared, (line) => <Stamp {...line} />, "time"],
      ]}
    />
  );
}

export function DayState({ line }: { readonly line: DayLine }) {
  const [colour, text] = stateOf(line, useMessages());
  return <Mark kind={colour}>{text}</Mark>;
}
