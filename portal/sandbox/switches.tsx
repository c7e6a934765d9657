/** The bank's switches: what it answers, after which delay, and with which deliberate errors. */
import { Button, Checkbox, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import type { SandboxView } from "./test-payments.ts";

type Switch = SandboxView["switches"][number];

export function Switches({ sandbox }: { readonly sandbox: SandboxView }) {
  const messages = useMessages();
  const changed = sandbox.switches.filter(({ isOff }) => !isOff).length;
  return (
    <>
      {changed > 0 && <p className="quiet">{messages.changedSwitches(changed)}</p>}
      <ul className="items">
        {sandbox.switches.map((each) => (
          <li key={each.name}>
            <OneSwitch of={each} />
          </li>
        ))}
      </ul>
    </>
  );
}

function OneSwitch({ of: { name, value, what, takes, isFlag, isOff } }: { readonly of: Switch }) {
  const messages = useMessages();
  const [written, setWritten] = useState(value);
  useEffect(() => setWritten(value), [value]);
  const set = usePerformer((next: string) => call("POST /sandbox/switch", { name, value: next }));
  return (
    <form
      className="line switch"
      onSubmit={submitting(() => set.mutate(written))}
      data-changed={isOff ? undefined : true}
    >
      <div>
        <b>{name}</b>
        <small>{what}</small>
      </div>
      {isFlag ? (
        <Checkbox
          size="md"
          aria-label={name}
          checked={value === "true"}
          onChange={({ currentTarget }) => set.mutate(String(currentTarget.checked))}
        />
      ) : (
        <div className="line">
          <TextInput
            aria-label={name}
            placeholder={messages.usual}
            title={takes}
            value={written}
            onChange={({ currentTarget }) => setWritten(currentTarget.value)}
          />
          {written !== value && (
            <Button type="submit" loading={set.isPending}>
              {messages.set}
            </Button>
          )}
          {!isOff && written === value && (
            <Button variant="default" onClick={() => set.mutate("")}>
              {messages.reset}
            </Button>
          )}
        </div>
      )}
      <Refusal text={set.error?.message} />
    </form>
  );
}
