/** One gate: its settings, its keys for message authentication, and the endpoints that use it. */
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import { useRows } from "../actions/values.ts";
import { Facts, Head, Loaded, LoadedPart, Mark, Section } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { EndpointTable } from "../merchants/endpoint-table.tsx";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import { currenciesOf, keyActionsFor } from "./gate-lines.ts";
import { GateState } from "./gates.tsx";

type GateDetail = OutputOf<"GET /gates/:gate">;

export function Gate() {
  const found = useAnswer("GET /gates/:gate", { gate: useAddress().item });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: GateDetail }) {
  const messages = useMessages();
  const { line, settings, endpoints } = detail;
  const values = { gate: line.name };
  return (
    <div className="screen stack">
      <Head
        back={{ to: "gates", label: messages.gates }}
        title={line.name}
        state={<GateState gate={line} />}
      >
        <ActionButton action="gate set" values={values} known={settings} />
        <ActionButton name={line.name} action="gate remove" values={values} />
      </Head>
      <Facts
        facts={[
          [messages.id, <code key="id">{line.id}</code>],
          [messages.dialect, line.kind],
          [messages.fields.host, line.host],
          [messages.fields.currencies, currenciesOf(line, messages.everyCurrency)],
        ]}
      />
      <div className="columns">
        <Settings settings={settings} />
        <MacKeys detail={detail} />
      </div>
      <Section title={messages.fields.endpoints}>
        <EndpointTable endpoints={endpoints} none={messages.unusedGate} withMerchant />
      </Section>
    </div>
  );
}

function MacKeys({ detail: { line, hasZoneKey } }: { readonly detail: GateDetail }) {
  const messages = useMessages();
  const { may } = useUser();
  const gate = line.name;
  const found = useRows("gate mac-key list", { gate });
  return (
    <Section title={messages.macKeys}>
      <LoadedPart query={found}>
        {(keys) =>
          keys.length === 0 ? (
            <p className="quiet">{messages.noMacKeys}</p>
          ) : (
            <ul className="items">
              {keys.map(({ id = "", algorithm, bytes, checkValue, writes }) => (
                <li key={id}>
                  <b>{checkValue}</b>
                  <span className="quiet">
                    {algorithm}, {bytes} bytes
                  </span>
                  {writes === "true" && <Mark kind="approved">{messages.writes}</Mark>}
                  <ActionButton
                    name={checkValue}
                    action="gate mac-key drop"
                    values={{ gate, id }}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </LoadedPart>
      {may("manage_keys") && (
        <div className="row-actions start">
          {keyActionsFor(hasZoneKey).map((action) => (
            <ActionButton key={action} action={action} name={gate} values={{ gate }} />
          ))}
        </div>
      )}
    </Section>
  );
}
