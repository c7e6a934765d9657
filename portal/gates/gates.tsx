/** The gates: the connections to acquirers, and whether they are up. */
import { useQuery } from "@tanstack/react-query";
import { CommandButton } from "../commands/command-form.tsx";
import { Head, Loaded, Mark } from "../design/details.tsx";
import { Nothing } from "../design/states.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { go, Link } from "../shell/url.tsx";
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
        {mayChange && <CommandButton command="gate create" label={messages.newGate} isMain />}
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
    <table className="rows stacked">
      <thead>
        <tr>
          <th>{messages.name}</th>
          <th>{messages.connections}</th>
          <th>{messages.dialect}</th>
          <th>{messages.host}</th>
          <th>{messages.currencies}</th>
          <th className="number">{messages.endpoints}</th>
        </tr>
      </thead>
      <tbody>
        {gates.map((gate) => (
          <tr key={gate.id} onClick={() => go(`gates/${gate.name}`)}>
            <td>
              <Link to={`gates/${gate.name}`}>
                <b>{gate.name}</b>
              </Link>{" "}
              {gate.isSandbox && <small>{messages.sandboxBank}</small>}
            </td>
            <td>
              <GateState gate={gate} />
            </td>
            <td className="quiet" data-name={messages.dialect}>
              {gate.kind}
            </td>
            <td className="wide quiet" data-name={messages.host}>
              {hostOf(gate)}
            </td>
            <td className="quiet" data-name={messages.currencies}>
              {currenciesOf(gate, messages.everyCurrency)}
            </td>
            <td className="number plain" data-name={messages.endpoints}>
              {gate.endpoints}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function GateState({ gate }: { readonly gate: GateLine }) {
  return (
    <Mark kind={linkColour(gate)}>
      {gate.up} / {gate.wanted}
    </Mark>
  );
}
