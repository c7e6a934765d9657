/** Days that were compared with the acquirers' books, and the form that compares one. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Loaded, Mark, Stamp, Tabs } from "../design/details.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { usePlace } from "../shell/url.tsx";
import { Chargebacks } from "./chargebacks.tsx";
import { addressOf, type DayLine, stateOf } from "./day-lines.ts";

export function Reconciliation() {
  const messages = useConfigurationMessages();
  const tab = usePlace().query.get("tab") ?? "days";
  const [imported, setImported] = useState<object>({});
  return (
    <div className="screen">
      <Head title={messages.reconciliation}>
        {tab === "days" ? (
          <ActionButton action="reconcile" label={messages.compareDay} isMain />
        ) : (
          <ActionButton
            action="chargeback import"
            label={messages.importChargebacks}
            isMain
            onDone={setImported}
          />
        )}
      </Head>
      <Tabs
        path="reconciliation"
        current={tab}
        tabs={[
          ["days", messages.days],
          ["chargebacks", messages.chargebacks],
        ]}
      />
      {tab === "days" ? <Days /> : <Chargebacks imported={imported} />}
    </div>
  );
}

function Days() {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const after = query.get("after") ?? undefined;
  const found = useQuery({
    queryKey: ["reconciliations", after],
    queryFn: ({ signal }) => call("GET /reconciliations", after ? { after } : {}, { signal }),
  });
  return (
    <Loaded query={found}>
      {({ reconciliations, next }) =>
        reconciliations.length === 0 ? (
          <Nothing title={messages.noDays} hint={messages.noDaysHint} />
        ) : (
          <>
            <DayTable days={reconciliations} />
            <Pages text="" next={next} isFirst={after === undefined} />
          </>
        )
      }
    </Loaded>
  );
}

function DayTable({ days }: { readonly days: readonly DayLine[] }) {
  const messages = useConfigurationMessages();
  return (
    <StackedTable
      rows={days}
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
  const [colour, text] = stateOf(line, useConfigurationMessages());
  return <Mark kind={colour}>{text}</Mark>;
}
