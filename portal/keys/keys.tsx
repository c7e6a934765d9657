/** The keys of the vault and of wallets, and the files that prove to wallets who owns a domain. */
import { ActionButton } from "../actions/action-button.tsx";
import { type Row, useRows } from "../actions/values.ts";
import { Head, LoadedPart, Mark, PrintedTime, Section } from "../design/details.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { byUse, cardsOf, purposeOf, stateOf, walletKeyOf } from "./key-lines.ts";

export function Keys() {
  const messages = useMessages();
  return (
    <div className="screen stack">
      <Head title={messages.keys} />
      <VaultKeys />
      <WalletKeys />
      <DomainFiles />
    </div>
  );
}

function VaultKeys() {
  const messages = useMessages();
  const found = useRows("key list");
  return (
    <Section title={messages.vaultKeys} action={<ActionButton action="key rotate" />}>
      <p className="quiet section-hint">{messages.vaultKeysHint}</p>
      <LoadedPart query={found}>
        {(keys) => (
          <Table
            rows={keys.toSorted(byUse)}
            keyOf={({ id = "" }) => id}
            columns={[
              [
                messages.purpose,
                (key) => <Name name={purposeOf(key, messages)} note={key["id"]} />,
              ],
              [messages.status, (key) => <KeyState row={key} />],
              [messages.cards, cardsOf, "number plain"],
              [
                messages.fields["created-at"],
                ({ createdAt }) => <PrintedTime text={createdAt} />,
                "time",
              ],
              [messages.destroyed, ({ destroyedAt }) => <PrintedTime text={destroyedAt} />, "time"],
            ]}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function KeyState({ row }: { readonly row: Row }) {
  const [colour, text] = stateOf(row, useMessages());
  return <Mark kind={colour}>{text}</Mark>;
}

function WalletKeys() {
  const messages = useMessages();
  const found = useRows("wallet key list");
  return (
    <Section title={messages.walletKeys}>
      <LoadedPart query={found}>
        {(keys) => (
          <Table
            rows={keys}
            none={messages.noWalletKeys}
            keyOf={({ id = "" }) => id}
            columns={[
              [
                messages.merchant,
                ({ id, merchant }) => (
                  <Name name={merchant} to={`merchants/${merchant}?tab=wallets`} note={id} />
                ),
              ],
              [messages.wallet, (key) => <WalletName row={key} />],
              [messages.expires, (key) => walletKeyOf(key, messages).expires, "wide quiet"],
              [messages.fields["created-at"], ({ made }) => made, "quiet"],
            ]}
          />
        )}
      </LoadedPart>
    </Section>
  );
}

function WalletName({ row }: { readonly row: Row }) {
  const { colour, name } = walletKeyOf(row, useMessages());
  return <Mark kind={colour}>{name}</Mark>;
}

function DomainFiles() {
  const messages = useMessages();
  const found = useRows("wallet domain-file list");
  return (
    <Section title={messages.domainFiles} action={<ActionButton action="wallet domain-file set" />}>
      <p className="quiet section-hint">{messages.domainFilesHint}</p>
      <LoadedPart query={found}>
        {(files) => (
          <ul className="items">
            {files.map(({ name = "", path, bytes }) => (
              <li key={name}>
                <b>{path}</b>
                <span className="quiet">{bytes} bytes</span>
                <ActionButton name={name} action="wallet domain-file remove" values={{ name }} />
              </li>
            ))}
          </ul>
        )}
      </LoadedPart>
    </Section>
  );
}
