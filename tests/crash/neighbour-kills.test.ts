/** The gateway's neighbours are killed under load, while it stays up: the database and the bank. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { startBankProgram } from "../support/bank-program.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startServer } from "../support/database-server.ts";
