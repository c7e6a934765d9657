/** Screening: its rules, the allow and block lists, and a trial of rules on past orders. */
import { NativeSelect } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { ActionButton } from "../actions/action-button.tsx";
import { Head, Loaded, Tabs } from "../design/details.tsx";
import { Nothing, Pages } from "../design/states.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { call, type User } from "../shell/call.ts";
import { changeQuery, usePlace } from "../shell/url.tsx";
import { Lists } from "./lists.tsx";
import { RuleTable } from "./rule-table.tsx";
import { Trial } from "./trial.tsx";

export function Screening({ user }: { readonly user: User }) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const tab = query.get("tab") ?? "rules";
  const mayChange = user.rights.includes("change_merchants");
  return (
    <div className="screen">
      <Head title={messages.screening} />
      <Tabs
        path="screening"
        current={tab}
        tabs={[
          ["rules", messages.rules],
          ["lists", messages.lists],
          ["trial", messages.trial],
        ]}
      />
      {tab === "rules" && <Rules mayChange={mayChange} />}
      {tab === "lists" && <Lists mayChange={mayChange} />}
      {tab === "trial" && <Trial />}
    </div>
  );
}

function Rules({ mayChange }: { readonly mayChange: boolean }) {
  const messages = useConfigurationMessages();
  const { query } = usePlace();
  const after = query.get("after") ?? "";
  const found = useQuery({
    queryKey: ["rules", after],
    queryFn: ({ signal }) => call("GET /rules", after === "" ? {} : { after }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Loaded query={found}>
      {({ rules, kinds, next }) => {
        const kind = query.get("kind") ?? kinds[0] ?? "";
        const nameOf = (each: string) => messages.ruleKinds[each] ?? each;
        return (
          <>
            {mayChange && (
              <div className="inline-form">
                <NativeSelect
                  aria-label={messages.kindOfRule}
                  data={kinds.map((each) => ({ value: each, label: nameOf(each) }))}
                  value={kind}
                  onChange={({ currentTarget }) =>
                    changeQuery({ kind: currentTarget.value }, { replaces: true })
                  }
                />
                <ActionButton
                  key={kind}
                  action={`filter add ${kind}`}
                  label={messages.newRule}
                  isMain
                />
              </div>
            )}
            {rules.length === 0 ? (
              <Nothing title={messages.noRules} hint={messages.noRulesHint} />
            ) : (
              <>
                <RuleTable rules={rules} mayChange={mayChange} />
                <Pages text="" next={next} isFirst={after === ""} isByName />
              </>
            )}
          </>
        );
      }}
    </Loaded>
  );
}
