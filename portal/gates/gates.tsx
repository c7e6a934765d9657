/** The screens of gates, which are the connections to acquirers, and of directory servers. */
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { Facts, Head, Loaded, LoadedPart, Mark, Section } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name, Table } from "../design/table.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import { EndpointTable } from "../merchants/endpoint-table.tsx";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import {
  addressOf,
  currenciesOf,
  filesOf,
  type GateLine,
  healthColour,
  hostOf,
  keyActionsFor,
  linkColour,
} from "./gate-lines.ts";

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
          [messages.health, (gate) => <GateHealth line={gate} />],
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

type HealthProps = {
  readonly line: Pick<
    GateLine,
    "health" | "why" | "sent" | "failed" | "approvalRate" | "usualRate"
  >;
};

/** The health of a gate as all nodes see it, with the figures of the latest window. */
export function GateHealth({ line }: HealthProps) {
  const { messages, code } = useLanguage();
  const share = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 0 });
  const isGood = line.health === "healthy" || line.health === "off";
  return (
    <>
      <Mark kind={healthColour(line)}>{messages.healthStates[line.health]}</Mark>{" "}
      <span className="quiet">
        {isGood ? "" : line.why}{" "}
        {line.approvalRate !== undefined &&
          messages.approvedOf(share.format(line.approvalRate), Math.round(line.sent))}
      </span>
    </>
  );
}

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
          [messages.health, <GateHealth key="health" line={line} />],
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

const right = "change_acquiring";

function Directories() {
  const messages = useMessages();
  const { may } = useUser();
  const found = useRows("directory list");
  return (
    <Section
      title={messages.directories}
      action={<ActionButton action="directory put" label={messages.newDirectory} />}
    >
      <LoadedPart query={found}>
        {(servers) => (
          <Table
            rows={servers}
            none={messages.noDirectories}
            keyOf={({ name = "" }) => name}
            columns={[
              [messages.fields.name, ({ name }) => <b>{name}</b>],
              [messages.files, (server) => <Files server={server} />],
              [messages.network, ({ networks }) => networks, "quiet"],
              [messages.cardRanges, ({ ranges }) => ranges, "number plain"],
              [messages.address, addressOf, "wide quiet"],
            ]}
            actions={may(right) && (({ name = "" }) => <ServerActions name={name} />)}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function Files({ server }: { readonly server: Row }) {
  const [colour, text] = filesOf(server, useMessages().good);
  return <Mark kind={colour}>{text}</Mark>;
}

function ServerActions({ name }: { readonly name: string }) {
  // The form that changes a directory server is filled with these settings.
  const [known] = useRows("directory show", { name }).data ?? [];
  const values = { name };
  return (
    <>
      {known && <ActionButton action="directory put" values={values} known={known} />}
      <ActionButton action="directory refresh" values={values} />
      <ActionButton name={name} action="directory remove" values={values} />
    </>
  );
}
