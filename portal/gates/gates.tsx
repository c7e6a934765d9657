/** The gates: the connections to acquirers, and whether they are up. */
import { useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Loaded, Mark } from "../design/details.tsx";
import { Nothing } from "../design/states.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { Directories } from "./directories.tsx";
import { currenciesOf, type GateLine, hostOf, linkColour } from "./gate-lines.ts";

export function Gates({ user }: { readonly user: User }) {
  const messages = useConfigurationMessages();
  const found = useQuery({
    queryKey: ["gates"],
    queryFn: ({ signal }) => call("GET /gates", {}, { signal }),
  });
  const mayChange = user.rights.includes("change_acquiring");
  return (
    <div className="screen">
      <Head title={messages.gates}>
        {mayChange && <ActionButton action="gate create" label={messages.newGate} isMain />}
      </Head>
      <Loaded query={found}>
        {({ gates }) =>
          gates.length === 0 ? (
            <Nothing title={messages.noGates} hint={messages.noGatesHint} />
          ) : (
            <GateTable gates={gates} />
          )
        }
      </Loaded>
      <Directories mayChange={mayChange} />
    </div>
  );
}

function GateTable({ gates }: { readonly gates: readonly GateLine[] }) {
  const messages = useConfigurationMessages();
  return (
    <StackedTable
      rows={gates}
      keyOf={({ id }) => id}
      opens={({ name }) => `gates/${name}`}
      columns={[
        [
          messages.name,
          ({ name, isSandbox }) => (
            <Name name={name} to={`gates/${name}`} note={isSandbox && messages.sandboxBank} />
          ),
        ],
        [messages.connections, (gate) => <GateState gate={gate} />],
        [messages.dialect, ({ kind }) => kind, "quiet"],
        [messages.host, hostOf, "wide quiet"],
        [messages.currencies, (gate) => currenciesOf(gate, messages.everyCurrency), "quiet"],
        [messages.endpoints, ({ endpoints }) => endpoints, "number plain"],
      ]}
    />
  );
}

export function GateState({ gate }: { readonly gate: GateLine }) {
  return (
    <Mark kind={linkColour(gate)}>
      {gate.up} / {gate.wanted}
    </Mark>
  );
}
