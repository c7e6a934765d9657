/** A merchant's identifiers at its customers' wallets, and the keys that wallets encrypt for. */
import { ActionButton } from "../actions/action-button.tsx";
import { Mark, Section } from "../design/details.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { type MerchantDetail, type PartProps, Settings } from "./settings.tsx";

export function Wallets({ detail, user }: PartProps) {
  const messages = useConfigurationMessages();
  const { wallets, walletKeys, line } = detail;
  const mayMake = user.rights.includes("manage_keys");
  return (
    <>
      <Settings
        settings={wallets}
        action={
          user.rights.includes("change_acquiring") && (
            <ActionButton
              action="wallet set"
              label={messages.change}
              values={{ login: line.login }}
              known={wallets}
            />
          )
        }
      />
      <Section
        title={messages.walletKeys}
        action={
          mayMake && (
            <ActionButton
              action="wallet key make"
              label={messages.newWalletKey}
              values={{ login: line.login }}
            />
          )
        }
      >
        {walletKeys.length === 0 ? (
          <p className="quiet">{messages.noWalletKeys}</p>
        ) : (
          <WalletKeyTable keys={walletKeys} mayChange={mayMake} />
        )}
      </Section>
    </>
  );
}

type TableProps = { readonly keys: MerchantDetail["walletKeys"]; readonly mayChange: boolean };

function WalletKeyTable({ keys, mayChange }: TableProps) {
  const messages = useConfigurationMessages();
  const { fields, certificates } = messages;
  return (
    <StackedTable
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        [messages.wallet, ({ id, wallet }) => <Name name={fields[wallet] ?? wallet} note={id} />],
        [
          messages.certificate,
          ({ certificate }) => (
            <Mark kind={certificate === "missing" ? "filtered" : "approved"}>
              {certificates[certificate]}
            </Mark>
          ),
        ],
        [messages.expires, ({ expiresAt }) => expiresAt ?? "–"],
        [messages.created, ({ createdAt }) => createdAt, "quiet"],
      ]}
      actions={mayChange && ((key) => <WalletKeyActions {...key} />)}
    />
  );
}

function WalletKeyActions({ id, certificate }: MerchantDetail["walletKeys"][number]) {
  const { addCertificate, remove, named, things } = useConfigurationMessages();
  return (
    <>
      {certificate !== "none" && (
        <ActionButton action="wallet key certify" label={addCertificate} values={{ id }} />
      )}
      <ActionButton
        action="wallet key remove"
        label={remove}
        title={named.remove(`${things.walletKey} ${id}`)}
        isDangerous
        values={{ id }}
      />
    </>
  );
}
