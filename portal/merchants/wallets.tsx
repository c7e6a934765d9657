/** A merchant's identifiers at wallet providers, and the keys for which wallets encrypt. */
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import { Mark, Section } from "../design/details.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { useUser } from "../shell/session.ts";
import type { MerchantDetail, PartProps } from "./terms.ts";

export function Wallets({ detail: { wallets, walletKeys, line } }: PartProps) {
  const messages = useMessages();
  const values = { login: line.login };
  const change = <ActionButton action="wallet set" values={values} known={wallets} />;
  return (
    <>
      <Settings settings={wallets} action={change} />
      <Section
        title={messages.walletKeys}
        action={<ActionButton action="wallet key make" values={values} />}
      >
        <WalletKeyTable keys={walletKeys} />
      </Section>
    </>
  );
}

function WalletKeyTable({ keys }: { readonly keys: MerchantDetail["walletKeys"] }) {
  const messages = useMessages();
  const { may } = useUser();
  const { fields, certificates } = messages;
  return (
    <Table
      rows={keys}
      none={messages.noWalletKeys}
      keyOf={({ id }) => id}
      columns={[
        [messages.wallet, ({ id, wallet }) => <Name name={wordIn(fields, wallet)} note={id} />],
        [
          messages.certificate,
          ({ certificate }) => (
            <Mark kind={certificate === "missing" ? "filtered" : "approved"}>
              {certificates[certificate]}
            </Mark>
          ),
        ],
        [messages.expires, ({ expiresAt }) => expiresAt ?? "–"],
        [messages.fields["created-at"], ({ createdAt }) => createdAt, "quiet"],
      ]}
      actions={may("manage_keys") && ((key) => <WalletKeyActions {...key} />)}
    />
  );
}

function WalletKeyActions({ id, certificate }: MerchantDetail["walletKeys"][number]) {
  const values = { id };
  return (
    <>
      {certificate !== "none" && <ActionButton action="wallet key certify" values={values} />}
      <ActionButton name={id} action="wallet key remove" values={values} />
    </>
  );
}
