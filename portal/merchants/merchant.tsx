/** One merchant: endpoints and groups, keys, wallets, rules and settings, each in a tab. */
import { useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Facts, Head, Loaded, OnOff, Section, Tabs } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { RuleTable } from "../screening/rule-table.tsx";
import { call, type User } from "../shell/call.ts";
import { usePlace } from "../shell/url.tsx";
import { EndpointTable, GroupTable } from "./endpoint-table.tsx";
import { Keys } from "./keys.tsx";
import { type PartProps, Settings } from "./settings.tsx";
import { Wallets } from "./wallets.tsx";

export function Merchant({ user }: { readonly user: User }) {
  const { item: login } = usePlace();
  return <MerchantPage user={user} login={login} />;
}

type PageProps = { readonly user: User; readonly login: string };

export function MerchantPage({ user, login }: PageProps) {
  const found = useQuery({
    queryKey: ["merchant", login],
    queryFn: ({ signal }) => call("GET /merchants/:login", { login }, { signal }),
  });
  return <Loaded query={found}>{(detail) => <Shown detail={detail} user={user} />}</Loaded>;
}

function Shown({ detail, user }: PartProps) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const { line } = detail;
  const tab = query.get("tab") ?? "endpoints";
  const mayChange = user.rights.includes("change_merchants");
  const isOperator = user.merchant === undefined;
  const toggle = line.enabled ? "disable" : "enable";
  return (
    <div className="screen">
      <Head
        {...(isOperator && { back: { to: "merchants", label: messages.merchants } })}
        title={line.login}
        state={<OnOff isOn={line.enabled} />}
      >
        {mayChange && (
          <ActionButton
            action={line.enabled ? "merchant disable" : "merchant enable"}
            label={messages[toggle]}
            title={messages.named[toggle](`${messages.things.merchant} ${line.login}`)}
            isDangerous={line.enabled}
            values={{ login: line.login }}
          />
        )}
      </Head>
      <Facts
        facts={[
          [messages.name, line.name],
          [messages.currencies, line.currencies.join(", ")],
          [messages.cell, isOperator ? line.cell : ""],
        ]}
      />
      <Tabs
        path={`merchants/${line.login}`}
        current={tab}
        tabs={[
          ["endpoints", messages.endpoints],
          ["keys", messages.keys],
          ["wallets", messages.wallets],
          ["rules", messages.rules],
          ["settings", messages.settings],
        ]}
      />
      {tab === "endpoints" && <Endpoints detail={detail} user={user} />}
      {tab === "keys" && <Keys detail={detail} user={user} />}
      {tab === "wallets" && <Wallets detail={detail} user={user} />}
      {tab === "rules" && <Rules detail={detail} user={user} />}
      {tab === "settings" && <OwnSettings detail={detail} user={user} />}
    </div>
  );
}

function OwnSettings({ detail: { line, settings }, user }: PartProps) {
  const messages = useConfigurationMessages();
  const change = user.rights.includes("change_merchants") && (
    <ActionButton
      action="merchant set"
      label={messages.change}
      values={{ login: line.login }}
      known={settings}
    />
  );
  return <Settings settings={settings} action={change} />;
}

function Endpoints({ detail, user }: PartProps) {
  const messages = useConfigurationMessages();
  const { line, endpoints, groups } = detail;
  const mayChange = user.rights.includes("change_merchants");
  const values = { login: line.login };
  return (
    <>
      <Section
        title={messages.endpoints}
        action={
          mayChange && (
            <ActionButton action="endpoint create" label={messages.newEndpoint} values={values} />
          )
        }
      >
        {endpoints.length === 0 ? (
          <p className="quiet">{messages.noEndpoints}</p>
        ) : (
          <EndpointTable endpoints={endpoints} />
        )}
      </Section>
      <Section
        title={messages.groups}
        action={
          mayChange && (
            <ActionButton action="group create" label={messages.newGroup} values={values} />
          )
        }
      >
        {groups.length === 0 ? (
          <p className="quiet">{messages.noGroups}</p>
        ) : (
          <GroupTable groups={groups} mayChange={mayChange} />
        )}
      </Section>
    </>
  );
}

function Rules({ detail, user }: PartProps) {
  const messages = useConfigurationMessages();
  if (detail.rules.length === 0) return <p className="quiet">{messages.noRulesHere}</p>;
  return <RuleTable rules={detail.rules} mayChange={user.rights.includes("change_merchants")} />;
}
