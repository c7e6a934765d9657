/** One merchant: endpoints and groups, keys, wallets, rules and settings, each in a tab. */
import { ActionButton } from "../actions/action-button.tsx";
import { Settings } from "../actions/result.tsx";
import { Facts, Head, Loaded, OnOff, Section, Tabs } from "../design/details.tsx";
import { useMessages } from "../language/language.tsx";
import { RuleTable } from "../screening/rule-table.tsx";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { useAddress } from "../shell/url.tsx";
import { EndpointTable, GroupTable } from "./endpoint-table.tsx";
import { Keys } from "./keys.tsx";
import type { PartProps } from "./terms.ts";
import { Wallets } from "./wallets.tsx";

export function Merchant() {
  return <MerchantPage login={useAddress().item} />;
}

export function MerchantPage({ login }: { readonly login: string }) {
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
