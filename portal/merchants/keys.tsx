/** A merchant's keys: the control key of checksums, and public keys of OAuth signatures. */
import { CommandButton } from "../commands/command-form.tsx";
import { Section } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import type { PartProps } from "./settings.tsx";
import { keyCommandsFor } from "./terms.ts";

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
  const words = [line.login];
  const hasOld = controlKey.oldLastUsed !== undefined;
  return (
    <Section title={messages.controlKey}>
      <dl className="fields settings">
        <div>
          <dt>{messages.keySetAt}</dt>
          <dd>{controlKey.setAt ?? messages.atCreation}</dd>
        </div>
        {hasOld && (
          <div>
            <dt>{messages.oldKeyUsed}</dt>
            <dd>{controlKey.oldLastUsed === "never" ? messages.never : controlKey.oldLastUsed}</dd>
          </div>
        )}
      </dl>
      <p className="quiet note-line">{hasOld ? messages.oldKeyHint : messages.controlKeyHint}</p>
      <div className="row-actions start">
        {user.rights.includes("manage_keys") &&
          keyCommandsFor(controlKey).map(({ label, ...rest }) => (
            <CommandButton key={rest.command} {...rest} words={words} label={messages[label]} />
          ))}
        {user.rights.includes("reveal_secrets") && (
          <CommandButton
            command="merchant show"
            label={messages.revealKey}
            words={words}
            options={[{ name: "reveal" }]}
          />
        )}
      </div>
    </Section>
  );
}

function OAuthKeys({ detail: { oauthKeys, line }, user }: PartProps) {
  const messages = useConfigurationMessages();
  const mayChange = user.rights.includes("manage_keys");
  return (
    <Section
      title={messages.oauthKeys}
      action={
        mayChange && (
          <CommandButton command="merchant key add" label={messages.addKey} words={[line.login]} />
        )
      }
    >
      {oauthKeys.length === 0 ? (
        <p className="quiet">{messages.noOauthKeys}</p>
      ) : (
        <table className="rows stacked still">
          <thead>
            <tr>
              <th>{messages.name}</th>
              <th>{messages.id}</th>
              <th>{messages.size}</th>
              <th>SHA-256</th>
              {mayChange && <th aria-label={messages.does} />}
            </tr>
          </thead>
          <tbody>
            {oauthKeys.map(({ id, name, bits, sha256 }) => (
              <tr key={id}>
                <td>{name || "–"}</td>
                <td className="mono" data-name={messages.id}>
                  {id}
                </td>
                <td className="quiet" data-name={messages.size}>
                  {bits} bit
                </td>
                <td className="wide mono" data-name="SHA-256">
                  {sha256}
                </td>
                {mayChange && (
                  <td className="row-actions">
                    <CommandButton
                      command="merchant key remove"
                      label={messages.remove}
                      words={[line.login, id]}
                    />
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}
