/** Rules of screening in a table, with what can be done to each. */
import { ActionButton } from "../actions/action-button.tsx";
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
  const values = { rule: id };
  const toggle = enabled ? "disable" : "enable";
  const named = (verb: keyof typeof messages.named) => ({
    label: messages[verb],
    title: messages.named[verb](`${messages.things.rule} ${id}`),
  });
  return (
    <>
      <ActionButton
        action="filter change"
        {...named("change")}
        values={values}
        known={{ parameters: parametersOf(rule, "=").join("\n") }}
      />
      <ActionButton
        action={enabled ? "filter disable" : "filter enable"}
        {...named(toggle)}
        isDangerous={enabled}
        values={values}
      />
      <ActionButton action="filter remove" {...named("remove")} isDangerous values={values} />
    </>
  );
}
