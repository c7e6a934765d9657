/** A merchant's keys: the control key of checksums, and public keys of OAuth signatures. */
import { ActionButton } from "../actions/action-button.tsx";
import { PrintedTime, Section } from "../design/details.tsx";
import { StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
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

function ControlKey({ detail, user }: PartProps) {
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
        {user.rights.includes("manage_keys") &&
          keyActionsFor(controlKey).map(({ label, action, isOffered }) => (
            <ActionButton
              key={action}
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
        {user.rights.includes("reveal_secrets") && (
          <ActionButton
            action="merchant show"
            label={messages.revealKey}
            values={{ login, reveal: true }}
          />
        )}
      </div>
    </Section>
  );
}

function OAuthKeys({ detail: { oauthKeys, line }, user }: PartProps) {
  const messages = useConfigurationMessages();
  const mayChange = user.rights.includes("manage_keys");
  const { login } = line;
  return (
    <Section
      title={messages.oauthKeys}
      action={
        mayChange && (
          <ActionButton action="merchant key add" label={messages.addKey} values={{ login }} />
        )
      }
    >
      {oauthKeys.length === 0 ? (
        <p className="quiet">{messages.noOauthKeys}</p>
      ) : (
        <StackedTable
          rows={oauthKeys}
          keyOf={({ id }) => id}
          columns={[
            [messages.name, ({ name }) => name || "–"],
            [messages.id, ({ id }) => id, "mono"],
            [messages.size, ({ bits }) => `${bits} bit`, "quiet"],
            ["SHA-256", ({ sha256 }) => sha256, "wide mono"],
          ]}
          actions={
            mayChange &&
            (({ id }) => (
              <ActionButton
                action="merchant key remove"
                label={messages.remove}
                title={messages.named.remove(`${messages.things.oauthKey} ${id}`)}
                isDangerous
                values={{ login, key: id }}
              />
            ))
          }
        />
      )}
    </Section>
  );
}
