/**
 * The checksum debugger, for values that the user types or pastes. The browser sends only those
 * that the checksum covers. They are not in the URL, because browsers keep URLs in their history.
 */

import { Button, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Head } from "../design/details.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { configured, useKnown } from "../orders/order-query.ts";
import { call } from "../shell/call.ts";
import { submitting } from "../shell/keys.ts";
import { useUser } from "../shell/session.ts";
import { changeQuery, useAddress } from "../shell/url.tsx";
import { ChecksumResult } from "./checksum-result.tsx";
import { filledIn, namesIn, type Pasted, readPasted, useFormulas } from "./request-query.ts";

export function Checksum() {
  const messages = useMessages();
  const mayTry = useUser().may("reveal_secrets");
  return (
    <div className="screen stack">
      <Head back={{ to: "requests", label: messages.requests }} title={messages.debugger} />
      <p className="hint">{mayTry ? messages.debuggerHint : messages.debuggerRight}</p>
      {mayTry && <Debugger />}
    </div>
  );
}

/** Returns the endpoints and operations to choose from, and the two that the URL names. */
function useChoices() {
  const { query } = useAddress();
  const endpoints = configured(useKnown().data).endpoint;
  const operations = useFormulas();
  const chosen = operations.find(({ name }) => name === query.get("operation")) ?? operations[0];
  return {
    endpoints,
    operations,
    operation: chosen?.name ?? "",
    endpoint: query.get("endpoint") ?? endpoints[0]?.value ?? "",
    names: namesIn(chosen?.formula ?? []),
  };
}

function Debugger() {
  const messages = useMessages();
  const choices = useChoices();
  const { endpoint, operation, names } = choices;
  const [fields, setFields] = useState<Pasted>({});
  const run = usePerformer(
    () => call("POST /checksum/try", { endpoint, operation, fields: filledIn(fields, names) }),
    { changes: "nothing" },
  );
  const change = (to: Pasted) => setFields({ ...fields, ...to });
  return (
    <div className="columns even">
      <form className="stack" onSubmit={submitting(() => run.mutate())}>
        <Target {...choices} />
        <Textarea
          label={messages.pasteRequest}
          description={messages.pasteRequestHint}
          rows={3}
          value=""
          onChange={({ currentTarget }) => change(readPasted(currentTarget.value, names))}
        />
        <div className="action-fields">
          {names.map((name) => (
            <TextInput
              key={name}
              label={name}
              value={fields[name] ?? ""}
              onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
            />
          ))}
        </div>
        <Button type="submit" size="sm" loading={run.isPending} disabled={!fields.control}>
          {messages.findMistake}
        </Button>
      </form>
      <div>
        <Refusal text={run.error?.message} />
        {run.data !== undefined && <ChecksumResult checksum={run.data} />}
      </div>
    </div>
  );
}

function Target({ endpoints, operations, endpoint, operation }: ReturnType<typeof useChoices>) {
  const messages = useMessages();
  return (
    <div className="action-fields">
      <NativeSelect
        label={messages.operation}
        data={operations.map(({ name }) => name)}
        value={operation}
        onChange={({ currentTarget }) => choose({ operation: currentTarget.value })}
      />
      <NativeSelect
        label={messages.endpoint}
        data={endpoints.map(({ value, label }) => ({ value, label: `${value} · ${label}` }))}
        value={endpoint}
        onChange={({ currentTarget }) => choose({ endpoint: currentTarget.value })}
      />
    </div>
  );
}

function choose(change: Readonly<Record<string, string>>): void {
  changeQuery(change, { replaces: true });
}
