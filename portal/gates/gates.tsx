/** The gates: the connections to acquirers, and whether they are up. */
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Mark } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useAnswer } from "../shell/call.ts";
import { Directories } from "./directories.tsx";
import { currenciesOf, type GateLine, hostOf, linkColour } from "./gate-lines.ts";

export function Gates() {
  const messages = useMessages();
  const found = useAnswer("GET /gates", {});
  return (
    <div className="screen stack">
      <Head title={messages.gates}>
        <ActionButton action="gate create" isMain />
      </Head>
      <List
        found={found}
        rowsOf={({ gates }) => gates}
        none={[messages.noGates, messages.noGatesHint]}
        keyOf={({ id }) => id}
        opens={({ name }) => `gates/${name}`}
        columns={[
          [
            messages.fields.name,
            ({ name, isSandbox }) => (
              <Name name={name} to={`gates/${name}`} note={isSandbox && messages.sandboxBank} />
            ),
          ],
          [messages.fields.connections, (gate) => <GateState gate={gate} />],
          [messages.dialect, ({ kind }) => kind, "quiet"],
          [messages.fields.host, hostOf, "wide quiet"],
          [
            messages.fields.currencies,
            (gate) => currenciesOf(gate, messages.everyCurrency),
            "quiet",
          ],
          [messages.fields.endpoints, ({ endpoints }) => endpoints, "number plain"],
        ]}
      />
      <Directories />
    </div>
  );
}

export function GateState({ gate }: { readonly gate: GateLine }) {
  return (
    <Mark kind={linkColour(gate)}>
      {gate.up} / {gate.wanted}
    </Mark>
  );
}
