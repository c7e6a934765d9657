/** Rules of screening in a table, with what can be done to each. */
import { CommandButton } from "../commands/command-form.tsx";
import { OnOff } from "../design/details.tsx";
import { Name, StackedTable } from "../design/table.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { parametersOf, placeOf, type Rule } from "./rules.ts";

type TableProps = { readonly rules: readonly Rule[]; readonly mayChange: boolean };

export function RuleTable({ rules, mayChange }: TableProps) {
  const messages = useConfigurationMessages();
  const { ruleKinds, choices, everywhere } = messages;
  return (
    <StackedTable
      rows={rules}
      keyOf={({ id }) => id}
      columns={[
        [messages.rule, ({ id, kind }) => <Name name={ruleKinds[kind] ?? kind} note={id} />],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.parameters, (rule) => parametersOf(rule, " ").join(", "), "wide"],
        [messages.countsFor, (rule) => placeOf(rule, everywhere), "quiet"],
        [messages.does, ({ action }) => choices[action] ?? action],
      ]}
      actions={mayChange && ((rule) => <RuleActions rule={rule} />)}
    />
  );
}

function RuleActions({ rule }: { readonly rule: Rule }) {
  const messages = useConfigurationMessages();
  const { id, enabled } = rule;
  return (
    <>
      <CommandButton
        command="filter change"
        label={messages.change}
        words={[id]}
        known={{ parameters: parametersOf(rule, "=").join("\n") }}
      />
      <CommandButton
        command={enabled ? "filter disable" : "filter enable"}
        label={enabled ? messages.disable : messages.enable}
        words={[id]}
      />
      <CommandButton command="filter remove" label={messages.remove} words={[id]} />
    </>
  );
}
