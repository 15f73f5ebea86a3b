import { open, rename, unlink } from "node:fs/promises";

export interface Row {
  line: number;
  sku: string;
  quantity: number;
}

export interface Stock {
  setMany(rows: readonly Row[]): Promise<void>;
}

export interface Progress {
  report(done: number, total: number): Promise<void>;
}

export interface Problem {
  line: number;
  reason: string;
}

export interface Outcome {
  imported: number;
  problems: Problem[];
}

export interface Notifier {
  send(address: string, text: string, key: string): Promise<void>;
}

export interface Budget {
  limiter: { allows(customer: string): boolean };
}

const BATCH = 500;
const MAX_COLUMNS = 3;
const MAX_PROBLEMS = 100;
const NOTIFY_API_KEY = requireEnv("NOTIFY_API_KEY");

export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set`);
  }
  return value;
}

export function parseRow(text: string, line: number): Row | Problem {
  const columns = text.split(";");
  if (columns.length > MAX_COLUMNS) {
    return { line, reason: "too many columns" };
  }
  const sku = columns[0]?.trim();
  if (sku === undefined || sku === "") {
    return { line, reason: "no article number" };
  }
  const digits = columns[1]?.trim() ?? "";
  if (!/^[0-9]{1,9}$/.test(digits)) {
    return { line, reason: `quantity ${digits} is not a whole number` };
  }
  return { line, sku, quantity: Number(digits) };
}

export function isProblem(parsed: Row | Problem): parsed is Problem {
  return "reason" in parsed;
}

export async function readLines(path: string): Promise<string[]> {
  const file = await open(path, "r");
  try {
    const text = await file.readFile("utf8");
    return text.trimEnd().split("\n");
  } finally {
    await file.close();
  }
}

export async function countLines(path: string): Promise<number> {
  const handle = await open(path, "r");
  let count = 0;
  try {
    for await (const _ of handle.readLines()) {
      count += 1;
    }
  } finally {
    await handle.close();
  }
  return count;
}

export async function saveProblems(path: string, problems: readonly Problem[]): Promise<void> {
  const draft = `${path}.part`;
  const file = await open(draft, "w");
  try {
    for (let index = 0; index < problems.length; index += 1) {
      const problem = problems[index] as Problem;
      await file.write(`${problem.line};${problem.reason}\n`);
    }
  } catch (error) {
    await unlink(draft);
    throw error;
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

export class ImportWorker {
  constructor(
    private readonly stock: Stock,
    private readonly progress: Progress,
    private readonly notifier: Notifier,
    private readonly budget: Budget,
  ) {}

  async run(path: string, customer: string): Promise<Outcome> {
    if (!path.endsWith(".csv")) {
      throw new RangeError("only csv files can be imported");
    }
    const lines = await readLines(path);
    const parsed = lines.map((text, index) => parseRow(text, index + 1));
    const rows = parsed.filter((entry): entry is Row => !isProblem(entry));
    const problems = parsed.filter(isProblem);
    if (problems.length > MAX_PROBLEMS) {
      return { imported: 0, problems };
    }
    await this.store(rows);
    await saveProblems(`${path}.problems`, problems);
    return { imported: rows.length, problems };
  }

  async inform(address: string, outcome: Outcome): Promise<boolean> {
    try {
      await this.notifier.send(address, `${outcome.imported} rows imported`, NOTIFY_API_KEY);
      return true;
    } catch {
      return false;
    }
  }

  private async store(rows: readonly Row[]): Promise<void> {
    for (let start = 0; start < rows.length; start += BATCH) {
      await this.stock.setMany(rows.slice(start, start + BATCH));
      await this.progress.report(Math.min(start + BATCH, rows.length), rows.length);
    }
  }
}
