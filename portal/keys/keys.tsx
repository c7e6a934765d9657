/** The operator's keys: the vault's own, those of wallets, and files that prove the domain. */
import { CommandButton } from "../commands/command-form.tsx";
import { type Row, useRows } from "../commands/request.ts";
import { Head, LoadedPart, Mark, Section } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import type { User } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";

export function Keys({ user }: { readonly user: User }) {
  const messages = useConfigurationMessages();
  return (
    <div className="screen">
      <Head title={messages.keys} />
      <VaultKeys />
      <WalletKeys />
      <DomainFiles mayChange={user.rights.includes("change_acquiring")} />
    </div>
  );
}

function VaultKeys() {
  const messages = useConfigurationMessages();
  const found = useRows("key list");
  return (
    <Section
      title={messages.vaultKeys}
      action={<CommandButton command="key rotate" label={messages.rotateKeys} />}
    >
      <p className="quiet section-hint">{messages.vaultKeysHint}</p>
      <LoadedPart query={found}>
        {(keys) => <VaultKeyTable keys={keys.toSorted(byUse)} />}
      </LoadedPart>
    </Section>
  );
}

/** The newest first, and last those that are no more. */
function byUse(one: Row, other: Row): number {
  const age = ({ id, destroyedAt }: Row) => Number(id) - (destroyedAt === "" ? 0 : 1e9);
  return age(other) - age(one);
}

function VaultKeyTable({ keys }: { readonly keys: readonly Row[] }) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked still">
      <thead>
        <tr>
          <th>{messages.purpose}</th>
          <th>{messages.status}</th>
          <th className="number">{messages.cards}</th>
          <th className="time">{messages.created}</th>
          <th className="time">{messages.destroyed}</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, purpose = "", createdAt, retiredAt, destroyedAt, cards }) => (
          <tr key={id}>
            <td>
              <b>{messages.keyPurposes[purpose] ?? purpose}</b> <small>{id}</small>
            </td>
            <td>
              <KeyState isRetired={retiredAt !== ""} isDestroyed={destroyedAt !== ""} />
            </td>
            <td className="number plain" data-name={messages.cards}>
              {purpose === "cards" ? cards : ""}
            </td>
            <td className="time" data-name={messages.created}>
              {createdAt}
            </td>
            <td className="time" data-name={messages.destroyed}>
              {destroyedAt}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type StateProps = { readonly isRetired: boolean; readonly isDestroyed: boolean };

function KeyState({ isRetired, isDestroyed }: StateProps) {
  const messages = useConfigurationMessages();
  if (isDestroyed) return <Mark kind="off">{messages.destroyed}</Mark>;
  if (isRetired) return <Mark kind="filtered">{messages.retired}</Mark>;
  return <Mark kind="approved">{messages.inUse}</Mark>;
}

function WalletKeys() {
  const messages = useConfigurationMessages();
  const found = useRows("wallet key list");
  return (
    <Section title={messages.walletKeys}>
      <LoadedPart query={found}>
        {(keys) =>
          keys.length === 0 ? (
            <p className="quiet">{messages.noWalletKeys}</p>
          ) : (
            <WalletKeyTable keys={keys} />
          )
        }
      </LoadedPart>
    </Section>
  );
}

function WalletKeyTable({ keys }: { readonly keys: readonly Row[] }) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked still">
      <thead>
        <tr>
          <th>{messages.merchant}</th>
          <th>{messages.wallet}</th>
          <th>{messages.expires}</th>
          <th>{messages.created}</th>
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, merchant = "", wallet = "", made, certificate, expires }) => (
          <tr key={id}>
            <td>
              <Link to={`merchants/${merchant}?tab=wallets`}>
                <b>{merchant}</b>
              </Link>{" "}
              <small>{id}</small>
            </td>
            <td>
              <Mark kind={certificate === "missing" ? "filtered" : "approved"}>
                {messages.fields[wallet] ?? wallet}
              </Mark>
            </td>
            <td className="wide quiet" data-name={messages.expires}>
              {certificate === "missing" ? messages.certificates.missing : expires}
            </td>
            <td className="quiet" data-name={messages.created}>
              {made}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DomainFiles({ mayChange }: { readonly mayChange: boolean }) {
  const messages = useConfigurationMessages();
  const found = useRows("wallet domain-file list");
  return (
    <Section
      title={messages.domainFiles}
      action={
        mayChange && (
          <CommandButton command="wallet domain-file set" label={messages.newDomainFile} />
        )
      }
    >
      <p className="quiet section-hint">{messages.domainFilesHint}</p>
      <LoadedPart query={found}>
        {(files) => (
          <ul className="mac-keys">
            {files.map(({ name = "", path, bytes }) => (
              <li key={name}>
                <b>{path}</b>
                <span className="quiet">{bytes} bytes</span>
                <div className="space" />
                {mayChange && (
                  <CommandButton
                    command="wallet domain-file remove"
                    label={messages.remove}
                    words={[name]}
                  />
                )}
              </li>
            ))}
          </ul>
        )}
      </LoadedPart>
    </Section>
  );
}
