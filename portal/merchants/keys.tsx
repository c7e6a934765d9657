/** A merchant's keys: the control key of checksums, and public keys of OAuth signatures. */
import { ActionButton, NamedAction } from "../actions/action-button.tsx";
import { PrintedTime, Section } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { useUser } from "../shell/session.ts";
import type { PartProps } from "./settings.tsx";
import { keyActionsFor } from "./terms.ts";

export function Keys(props: PartProps) {
  return (
    <>
      <ControlKey {...props} />
      <OAuthKeys {...props} />
    </>
  );
}

function ControlKey({ detail }: PartProps) {
  const messages = useConfigurationMessages();
  const { controlKey, line } = detail;
  const { login } = line;
  const hasOld = controlKey.oldLastUsed !== undefined;
  return (
    <Section title={messages.controlKey}>
      <dl className="fields settings">
        <div>
          <dt>{messages.keySetAt}</dt>
          <dd>
            <PrintedTime text={controlKey.setAt ?? messages.atCreation} />
          </dd>
        </div>
        {hasOld && (
          <div>
            <dt>{messages.oldKeyUsed}</dt>
            <dd>
              {controlKey.oldLastUsed === "never" ? (
                messages.never
              ) : (
                <PrintedTime text={controlKey.oldLastUsed} />
              )}
            </dd>
          </div>
        )}
      </dl>
      <p className="quiet note-line">{hasOld ? messages.oldKeyHint : messages.controlKeyHint}</p>
      <div className="row-actions start">
        {keyActionsFor(controlKey).map(({ label, action, isOffered }) => (
          <ActionButton
            key={action}
            right="manage_keys"
            action={action}
            isOffered={isOffered}
            label={messages[label]}
            values={{ login }}
            {...(label === "dropOldKey" && {
              title: messages.dropOldKeyOf(login),
              isDangerous: true,
            })}
          />
        ))}
        <ActionButton
          right="reveal_secrets"
          action="merchant show"
          label={messages.revealKey}
          values={{ login, reveal: true }}
        />
      </div>
    </Section>
  );
}

function OAuthKeys({ detail: { oauthKeys, line } }: PartProps) {
  const messages = useConfigurationMessages();
  const { may } = useUser();
  const { login } = line;
  return (
    <Section
      title={messages.oauthKeys}
      action={
        <ActionButton
          right="manage_keys"
          action="merchant key add"
          label={messages.addKey}
          values={{ login }}
        />
      }
    >
      <Table
        rows={oauthKeys}
        none={messages.noOauthKeys}
        keyOf={({ id }) => id}
        columns={[
          [messages.name, ({ name }) => name || "–"],
          [messages.id, ({ id }) => id, "mono"],
          [messages.size, ({ bits }) => `${bits} bit`, "quiet"],
          ["SHA-256", ({ sha256 }) => sha256, "wide mono"],
        ]}
        actions={
          may("manage_keys") &&
          (({ id }) => (
            <NamedAction
              verb="remove"
              thing="oauthKey"
              name={id}
              action="merchant key remove"
              values={{ login, key: id }}
            />
          ))
        }
      />
    </Section>
  );
}
