/** A merchant's keys: the control key of checksums, and public keys of OAuth signatures. */
import { ActionButton } from "../actions/action-button.tsx";
import { Fields, PrintedTime, Section } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";
import { keyActionsFor, type PartProps } from "./terms.ts";

export function Keys(props: PartProps) {
  return (
    <>
      <ControlKey {...props} />
      <OAuthKeys {...props} />
    </>
  );
}

function ControlKey({ detail }: PartProps) {
  const messages = useMessages();
  const { controlKey, line } = detail;
  const { login } = line;
  const { setAt = messages.atCreation, oldLastUsed } = controlKey;
  const hasOld = oldLastUsed !== undefined;
  const used = oldLastUsed === "never" ? messages.never : oldLastUsed;
  return (
    <Section title={messages.fields["control-key"]}>
      <Fields
        className="fields settings"
        rows={[
          [messages.keySetAt, <PrintedTime key="set" text={setAt} />],
          ...(hasOld
            ? [[messages.oldKeyUsed, <PrintedTime key="old" text={used} />] as const]
            : []),
        ]}
      />
      <p className="quiet note-line">{hasOld ? messages.oldKeyHint : messages.controlKeyHint}</p>
      <div className="row-actions start">
        {keyActionsFor(controlKey).map((each) => (
          <ActionButton key={each.action} {...each} name={login} values={{ login }} />
        ))}
        <ActionButton action="merchant show" values={{ login, reveal: true }} />
      </div>
    </Section>
  );
}

function OAuthKeys({ detail: { oauthKeys, line } }: PartProps) {
  const messages = useMessages();
  const { may } = useUser();
  const { login } = line;
  return (
    <Section
      title={messages.oauthKeys}
      action={<ActionButton action="merchant key add" values={{ login }} />}
    >
      <Table
        rows={oauthKeys}
        none={messages.noOauthKeys}
        keyOf={({ id }) => id}
        columns={[
          [messages.fields.name, ({ name }) => name || "–"],
          [messages.id, ({ id }) => id, "mono"],
          [messages.size, ({ bits }) => `${bits} bit`, "quiet"],
          ["SHA-256", ({ sha256 }) => sha256, "wide mono"],
        ]}
        actions={
          may("manage_keys") &&
          (({ id }) => (
            <ActionButton name={id} action="merchant key remove" values={{ login, key: id }} />
          ))
        }
      />
    </Section>
  );
}
