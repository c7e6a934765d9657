/** The operator's keys: the vault's own, those of wallets, and files that prove the domain. */
import { CommandButton } from "../commands/command-form.tsx";
import { type Row, useRows } from "../commands/request.ts";
import { Head, LoadedPart, Mark, Section } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import type { User } from "../shell/call.ts";
import { Link } from "../shell/url.tsx";
import { byUse, cardsOf, purposeOf, stateOf, walletKeyOf } from "./key-lines.ts";

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
        {keys.map(({ id, ...row }) => (
          <tr key={id}>
            <td>
              <b>{purposeOf(row, messages)}</b> <small>{id}</small>
            </td>
            <td>
              <KeyState row={row} />
            </td>
            <td className="number plain" data-name={messages.cards}>
              {cardsOf(row)}
            </td>
            <td className="time" data-name={messages.created}>
              {row["createdAt"]}
            </td>
            <td className="time" data-name={messages.destroyed}>
              {row["destroyedAt"]}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function KeyState({ row }: { readonly row: Row }) {
  const [colour, text] = stateOf(row, useConfigurationMessages());
  return <Mark kind={colour}>{text}</Mark>;
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
        {keys.map(({ id, merchant = "", made, ...key }) => (
          <tr key={id}>
            <td>
              <Link to={`merchants/${merchant}?tab=wallets`}>
                <b>{merchant}</b>
              </Link>{" "}
              <small>{id}</small>
            </td>
            <td>
              <Mark kind={walletKeyOf(key, messages).colour}>
                {walletKeyOf(key, messages).name}
              </Mark>
            </td>
            <td className="wide quiet" data-name={messages.expires}>
              {walletKeyOf(key, messages).expires}
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
