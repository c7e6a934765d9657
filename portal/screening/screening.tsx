/** Screening: its rules, the allow and block lists, and a trial of rules on past orders. */
import { NativeSelect } from "@mantine/core";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Tabs } from "../design/details.tsx";
import { List } from "../design/list.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { Lists } from "./lists.tsx";
import { RuleTable } from "./rule-table.tsx";
import { Trial } from "./trial.tsx";

export function Screening() {
  const messages = useMessages();
  return (
    <div className="screen stack">
      <Head title={messages.screening} />
      <Tabs
        path="screening"
        tabs={[
          ["rules", messages.rules, () => <Rules />],
          ["lists", messages.lists, () => <Lists />],
          ["trial", messages.trial, () => <Trial />],
        ]}
      />
    </div>
  );
}

function Rules() {
  const messages = useMessages();
  const { may } = useUser();
  const after = useAddress().query.get("after");
  const found = useAnswer("GET /rules", after ? { after } : {}, { keepsBefore: true });
  return (
    <>
      {may("change_merchants") && <NewRule kinds={found.data?.kinds ?? []} />}
      <List
        found={found}
        rowsOf={({ rules }) => rules}
        none={[messages.noRules, messages.noRulesHint]}
        isByName
      >
        {(rules) => <RuleTable rules={rules} />}
      </List>
    </>
  );
}

function NewRule({ kinds }: { readonly kinds: readonly string[] }) {
  const messages = useMessages();
  const kind = useAddress().query.get("kind") ?? kinds[0] ?? "";
  const nameOf = (each: string) => wordIn(messages.ruleKinds, each);
  return (
    <div className="line inline-form">
      <NativeSelect
        aria-label={messages.kindOfRule}
        data={kinds.map((each) => ({ value: each, label: nameOf(each) }))}
        value={kind}
        onChange={({ currentTarget }) =>
          changeQuery({ kind: currentTarget.value }, { replaces: true })
        }
      />
      <ActionButton key={kind} action={`filter add ${kind}`} isMain />
    </div>
  );
}
