/** A merchant's identifiers at its customers' wallets, and the keys that wallets encrypt for. */
import { CommandButton } from "../commands/command-form.tsx";
import { Mark, Section } from "../design/details.tsx";
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
            <CommandButton
              command="wallet set"
              label={messages.change}
              words={[line.login]}
              known={wallets}
            />
          )
        }
      />
      <Section
        title={messages.walletKeys}
        action={
          mayMake && (
            <CommandButton
              command="wallet key make"
              label={messages.newWalletKey}
              words={[line.login]}
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
  return (
    <table className="rows stacked still">
      <thead>
        <tr>
          <th>{messages.wallet}</th>
          <th>{messages.certificate}</th>
          <th>{messages.expires}</th>
          <th>{messages.created}</th>
          {mayChange && <th aria-label={messages.does} />}
        </tr>
      </thead>
      <tbody>
        {keys.map(({ id, wallet, certificate, expiresAt, createdAt }) => (
          <tr key={id}>
            <td>
              <b>{messages.fields[wallet] ?? wallet}</b> <small>{id}</small>
            </td>
            <td>
              <Mark kind={certificate === "missing" ? "filtered" : "approved"}>
                {messages.certificates[certificate]}
              </Mark>
            </td>
            <td data-name={messages.expires}>{expiresAt ?? "–"}</td>
            <td className="quiet" data-name={messages.created}>
              {createdAt}
            </td>
            {mayChange && (
              <td className="row-actions">
                {certificate !== "none" && (
                  <CommandButton
                    command="wallet key certify"
                    label={messages.addCertificate}
                    words={[id]}
                  />
                )}
                <CommandButton command="wallet key remove" label={messages.remove} words={[id]} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
