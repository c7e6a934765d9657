/** A table of screening rules with buttons for the actions on each rule. */
import { ActionButton } from "../actions/action-button.tsx";
import { OnOff } from "../design/details.tsx";
import { Name, Table } from "../design/table.tsx";
import { useMessages } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { useUser } from "../shell/session.ts";
import { parametersOf, placeOf, type Rule } from "./rules.ts";

type TableProps = { readonly rules: readonly Rule[]; readonly none?: string };

export function RuleTable({ rules, ...given }: TableProps) {
  const messages = useMessages();
  const { may } = useUser();
  const { ruleKinds, choices, everywhere } = messages;
  return (
    <Table
      rows={rules}
      {...given}
      keyOf={({ id }) => id}
      columns={[
        [messages.fields.rule, ({ id, kind }) => <Name name={wordIn(ruleKinds, kind)} note={id} />],
        [messages.status, ({ enabled }) => <OnOff isOn={enabled} />],
        [messages.parameters, (rule) => parametersOf(rule, " ").join(", "), "wide"],
        [messages.countsFor, (rule) => placeOf(rule, everywhere), "quiet"],
        [messages.fields.action, ({ action }) => wordIn(choices, action)],
      ]}
      actions={may("change_merchants") && ((rule) => <RuleActions rule={rule} />)}
    />
  );
}

function RuleActions({ rule }: { readonly rule: Rule }) {
  const { id, enabled } = rule;
  const shared = { name: id, values: { rule: id } };
  const known = { parameters: parametersOf(rule, "=").join("\n") };
  return (
    <>
      <ActionButton action="filter change" known={known} {...shared} />
      <ActionButton action={enabled ? "filter disable" : "filter enable"} {...shared} />
      <ActionButton action="filter remove" {...shared} />
    </>
  );
}
