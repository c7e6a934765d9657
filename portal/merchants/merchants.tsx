/** The list of merchants, which only operators see, and the page of one merchant. */
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import {
  Facts,
  Fields,
  Head,
  Loaded,
  Mark,
  OnOff,
  PrintedTime,
  Section,
  Tabs,
} from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { makeFilters, readListQuery } from "../orders/order-query.ts";
import { Search } from "../orders/search.tsx";
import { RuleTable } from "../screening/rule-table.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import { EndpointTable, GroupTable } from "./endpoint-table.tsx";
import { keyActionsFor, type MerchantDetail, type PartProps } from "./terms.ts";

const filters = makeFilters(["search"]);

export function Merchants() {
  const { merchant } = useUser();
  return merchant === undefined ? <MerchantList /> : <MerchantPage login={merchant} />;
}

function MerchantList() {
  const messages = useMessages();
  const { search, after } = readListQuery(useAddress().query, []);
  const input = { ...(search && { search }), ...(after && { after }) };
  const found = useAnswer("GET /merchants", input, { keepsBefore: true });
  return (
    <div className="screen stack">
      <Head title={messages.merchants}>
        <ActionButton action="merchant create" isMain />
      </Head>
      <Search label={messages.searchMerchants} />
      <List
        found={found}
        rowsOf={({ merchants }) => merchants}
        none={[messages.noMerchants, messages.noMerchantsHint]}
        noMatch={[messages.noMerchantFound, messages.noMerchantFoundHint]}
        filters={filters}
        isByName
        keyOf={({ login }) => login}
        opens={({ login }) => `merchants/${login}`}
        columns={[
          [
            messages.login,
            ({ login, name }) => (
              <Name name={login} to={`merchants/${login}`} note={name !== login && name} />
            ),
          ],
          [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
          [messages.fields.currencies, ({ currencies }) => currencies.join(", "), "wide quiet"],
          [messages.fields.endpoints, ({ endpoints }) => endpoints, "number plain"],
          [messages.fields.cell, ({ cell }) => cell, "quiet"],
        ]}
      />
    </div>
  );
}

export function Merchant() {
  return <MerchantPage login={useAddress().item} />;
}

function MerchantPage({ login }: { readonly login: string }) {
  const found = useAnswer("GET /merchants/:login", { login });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} />}</Loaded>;
}

function Shown({ detail }: PartProps) {
  const messages = useMessages();
  const { isOperator } = useUser();
  const { line, settings } = detail;
  const values = { login: line.login };
  const toggle = line.enabled ? "merchant disable" : "merchant enable";
  const change = <ActionButton action="merchant set" values={values} known={settings} />;
  return (
    <div className="screen stack">
      <Head
        {...(isOperator && { back: { to: "merchants", label: messages.merchants } })}
        title={line.login}
        state={<OnOff isOn={line.enabled} />}
      >
        <ActionButton name={line.login} action={toggle} values={values} />
      </Head>
      <Facts
        facts={[
          [messages.fields.name, line.name],
          [messages.fields.currencies, line.currencies.join(", ")],
          [messages.fields.cell, isOperator ? line.cell : ""],
        ]}
      />
      <Tabs
        path={`merchants/${line.login}`}
        tabs={[
          ["endpoints", messages.fields.endpoints, () => <Endpoints detail={detail} />],
          ["keys", messages.keys, () => <Keys detail={detail} />],
          ["wallets", messages.wallets, () => <Wallets detail={detail} />],
          [
            "rules",
            messages.rules,
            () => <RuleTable rules={detail.rules} none={messages.noRulesHere} />,
          ],
          ["settings", messages.settings, () => <Settings settings={settings} action={change} />],
        ]}
      />
    </div>
  );
}

function Endpoints({ detail: { line, endpoints, groups } }: PartProps) {
  const messages = useMessages();
  const values = { login: line.login };
  return (
    <>
      <Section
        title={messages.fields.endpoints}
        action={<ActionButton action="endpoint create" values={values} />}
      >
        <EndpointTable endpoints={endpoints} none={messages.noEndpoints} />
      </Section>
      <Section
        title={messages.groups}
        action={<ActionButton action="group create" values={values} />}
      >
        <GroupTable groups={groups} />
      </Section>
    </>
  );
}

/** The control key makes checksums, and the public keys verify OAuth signatures. */
function Keys(props: PartProps) {
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

/** Wallets encrypt payment data for the merchant with these keys. */
function Wallets({ detail: { wallets, walletKeys, line } }: PartProps) {
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
