/** Settings by their labels, as the gateway prints them; and what a merchant's tabs are given. */
import type { ReactNode } from "react";
import { useLabel } from "../actions/result.tsx";
import type { Texts } from "../actions/values.ts";
import { Section } from "../design/details.tsx";
import { useConfigurationMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { showSetting } from "./terms.ts";

export type MerchantDetail = OutputOf<"GET /merchants/:login">;
/** Of a tab. */
export type PartProps = { readonly detail: MerchantDetail };

type SettingsProps = { readonly settings: Texts; readonly action?: ReactNode };

export function Settings({ settings, action }: SettingsProps) {
  const messages = useConfigurationMessages();
  const rows = Object.entries(settings);
  return (
    <Section title={messages.settings} action={action}>
      {rows.length === 0 ? (
        <p className="quiet">{messages.allUsual}</p>
      ) : (
        <dl className="fields settings">
          {rows.map(([name, value]) => (
            <Setting key={name} name={name} value={value} />
          ))}
        </dl>
      )}
    </Section>
  );
}

function Setting({ name, value }: { readonly name: string; readonly value: string }) {
  const { choices } = useConfigurationMessages();
  return (
    <div>
      <dt>{useLabel(name)}</dt>
      <dd>
        {value.startsWith("data:") ? (
          <img src={value} alt="" height={28} />
        ) : (
          showSetting(value, choices)
        )}
      </dd>
    </div>
  );
}
