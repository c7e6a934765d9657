/** One gate: its settings, its keys for message authentication, and the endpoints that use it. */
import { useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { useRows } from "../actions/values.ts";
import { Facts, Head, Loaded, LoadedPart, Mark, Section } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { EndpointTable } from "../merchants/endpoint-table.tsx";
import { Settings } from "../merchants/settings.tsx";
import { call, type OutputOf, type User } from "../shell/call.ts";
import { usePlace } from "../shell/url.tsx";
import { currenciesOf, keyActionsFor } from "./gate-lines.ts";
import { GateState } from "./gates.tsx";

type GateDetail = OutputOf<"GET /gates/:gate">;

export function Gate({ user }: { readonly user: User }) {
  const { item: gate } = usePlace();
  const found = useQuery({
    queryKey: ["gate", gate],
    queryFn: ({ signal }) => call("GET /gates/:gate", { gate }, { signal }),
  });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} user={user} />}</Loaded>;
}

function Shown({ detail, user }: { readonly detail: GateDetail; readonly user: User }) {
  const messages = useConfigurationMessages();
  const { line, settings, endpoints } = detail;
  const values = { gate: line.name };
  return (
    <div className="screen">
      <Head
        back={{ to: "gates", label: messages.gates }}
        title={line.name}
        state={<GateState gate={line} />}
      >
        {user.rights.includes("change_acquiring") && (
          <>
            <ActionButton
              action="gate set"
              label={messages.change}
              values={values}
              known={settings}
            />
            <ActionButton
              action="gate remove"
              label={messages.remove}
              title={messages.named.remove(`${messages.things.gate} ${line.name}`)}
              isDangerous
              values={values}
            />
          </>
        )}
      </Head>
      <Facts
        facts={[
          [messages.id, <code key="id">{line.id}</code>],
          [messages.dialect, line.kind],
          [messages.host, line.host],
          [messages.currencies, currenciesOf(line, messages.everyCurrency)],
        ]}
      />
      <div className="columns">
        <Settings settings={settings} action={null} />
        <MacKeys detail={detail} mayChange={user.rights.includes("manage_keys")} />
      </div>
      <Section title={messages.endpoints}>
        {endpoints.length === 0 ? (
          <p className="quiet">{messages.unusedGate}</p>
        ) : (
          <EndpointTable endpoints={endpoints} withMerchant />
        )}
      </Section>
    </div>
  );
}

type KeysProps = { readonly detail: GateDetail; readonly mayChange: boolean };

function MacKeys({ detail: { line, hasZoneKey }, mayChange }: KeysProps) {
  const messages = useConfigurationMessages();
  const gate = line.name;
  const found = useRows("gate mac-key list", { gate });
  return (
    <Section title={messages.macKeys}>
      <LoadedPart query={found}>
        {(keys) =>
          keys.length === 0 ? (
            <p className="quiet">{messages.noMacKeys}</p>
          ) : (
            <ul className="mac-keys">
              {keys.map(({ id = "", algorithm, bytes, checkValue, writes }) => (
                <li key={id}>
                  <b>{checkValue}</b>
                  <span className="quiet">
                    {algorithm}, {bytes} bytes
                  </span>
                  {writes === "true" && <Mark kind="approved">{messages.writes}</Mark>}
                  <div className="space" />
                  {mayChange && (
                    <ActionButton
                      action="gate mac-key drop"
                      label={messages.remove}
                      title={messages.named.remove(`${messages.things.macKey} ${checkValue}`)}
                      isDangerous
                      values={{ gate, id }}
                    />
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </LoadedPart>
      {mayChange && (
        <div className="row-actions start">
          {keyActionsFor(hasZoneKey).map(({ action, label, ...rest }) => (
            <ActionButton
              key={action}
              action={action}
              label={messages[label]}
              {...("title" in rest && { title: messages[rest.title](gate), isDangerous: true })}
              values={{ gate }}
            />
          ))}
        </div>
      )}
    </Section>
  );
}
