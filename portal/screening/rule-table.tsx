/** Rules of screening in a table, with what can be done to each. */
import { CommandButton } from "../commands/command-form.tsx";
import { OnOff } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import { parametersOf, placeOf, type Rule } from "./rules.ts";

type TableProps = { readonly rules: readonly Rule[]; readonly mayChange: boolean };

export function RuleTable({ rules, mayChange }: TableProps) {
  const messages = useConfigurationMessages();
  return (
    <table className="rows stacked still">
      <thead>
        <tr>
          <th>{messages.rule}</th>
          <th>{messages.status}</th>
          <th>{messages.parameters}</th>
          <th>{messages.countsFor}</th>
          <th>{messages.does}</th>
          {mayChange && <th aria-label={messages.does} />}
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <tr key={rule.id}>
            <td>
              <b>{messages.ruleKinds[rule.kind] ?? rule.kind}</b> <small>{rule.id}</small>
            </td>
            <td>
              <OnOff isOn={rule.enabled} />
            </td>
            <td className="wide" data-name={messages.parameters}>
              {parametersOf(rule, " ").join(", ")}
            </td>
            <td className="quiet" data-name={messages.countsFor}>
              {placeOf(rule, messages.everywhere)}
            </td>
            <td data-name={messages.does}>{messages.choices[rule.action] ?? rule.action}</td>
            {mayChange && (
              <td className="row-actions">
                <RuleActions rule={rule} />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
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
