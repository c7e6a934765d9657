/** A refused request's page: every fault, the values of its checksum, and its stored fields. */
import { Facts, Fields, Head, Loaded, Mark, Section, Time } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { useAddress } from "../shell/url.tsx";
import { ChecksumResult } from "./checksum-result.tsx";
import { hasControl, splitFault } from "./request-query.ts";

type Detail = OutputOf<"GET /requests/:serial">;

export function Request() {
  const found = useAnswer("GET /requests/:serial", { serial: useAddress().item });
  useKeys([["Escape", () => history.back()]]);
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: { readonly detail: Detail }) {
  const messages = useMessages();
  const { line, faults, fields, checksum, check, base } = detail;
  return (
    <div className="screen stack">
      <Head
        back={{ to: "requests", label: messages.requests }}
        title={line.operation}
        state={<Mark kind="declined">{line.error}</Mark>}
      />
      <Facts
        facts={[
          [messages.clientOrder, line.clientOrder],
          [messages.endpoint, line.endpoint],
          [messages.merchant, line.merchant],
          [messages.sentAt, <Time key="at" at={line.at} />],
          [messages.sentFrom, line.from],
          [messages.signature, line.isSigned ? messages.signed : messages.unsigned],
          [messages.serialNumber, <code key="serial">{line.serial}</code>],
        ]}
      />
      <div className="columns">
        <div>
          {(check !== undefined || base !== undefined) && (
            <Section title={messages.oauth}>
              <OAuth check={check} base={base} />
            </Section>
          )}
          {checksum !== undefined && (
            <Section title={messages.checksum}>
              <ChecksumResult checksum={checksum} wasSent={hasControl(fields)} />
            </Section>
          )}
          {faults.length > 0 && (
            <Section title={messages.faults}>
              <Faults faults={faults} />
            </Section>
          )}
        </div>
        <Section title={messages.fieldsSent}>
          <Sent fields={fields} />
        </Section>
      </div>
    </div>
  );
}

function OAuth({ check, base }: { readonly [Name in "check" | "base"]: string | undefined }) {
  const messages = useMessages();
  return (
    <>
      {check !== undefined && (
        <div className="verdict" data-is="wrong">
          <p>
            {messages.oauthCheck} <code>{check}</code>
          </p>
        </div>
      )}
      {base !== undefined && (
        <>
          <p className="hint">{messages.oauthBase}</p>
          <pre className="base-string">{base}</pre>
        </>
      )}
    </>
  );
}

function Faults({ faults }: { readonly faults: readonly string[] }) {
  return (
    <ul className="fault-list">
      {faults.map((fault) => {
        const [field, what] = splitFault(fault);
        return (
          <li key={fault}>
            <b>{field}</b>
            {what}
          </li>
        );
      })}
    </ul>
  );
}

function Sent({ fields }: Pick<Detail, "fields">) {
  const messages = useMessages();
  if (fields.length === 0) return <p className="quiet">{messages.noFields}</p>;
  const rows = fields.map(({ name, value, length, isDigits = false }) => {
    const lacking = messages.notKept(length, isDigits);
    return [
      name,
      value ?? (
        <span key={name} className="quiet">
          {lacking}
        </span>
      ),
    ] as const;
  });
  return <Fields rows={rows} />;
}
