export interface Client {
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
  release(): void;
}

export interface Pool {
  connect(): Promise<Client>;
}

export interface Customer {
  id: string;
  name: string;
  email: string;
}

export interface Invoice {
  id: string;
  customerId: string;
  cents: number;
  dueAt: number;
  paidAt: number | null;
  note: string | null;
}

export interface CustomerSource {
  getOne(id: string): Promise<Customer>;
  getMany(ids: readonly string[]): Promise<Map<string, Customer>>;
}

export interface Mailer {
  send(to: string, subject: string, html: string): Promise<void>;
}

export interface Limits {
  rateLimiter: { consume(key: string): Promise<void> };
  escape(text: string): string;
}

export class InvoiceError extends Error {}

const DAY_MS = 86_400_000;
const MAX_ROWS = 500;
const MAX_NOTE = 400;
const PAYMENT_TOKEN = requireEnv("PAYMENT_GATEWAY_TOKEN");

export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set`);
  }
  return value;
}

export function total(invoices: readonly Invoice[]): number {
  let cents = 0;
  for (let index = 0; index < invoices.length; index += 1) {
    cents += (invoices[index] as Invoice).cents;
  }
  return cents;
}

export function overdueDays(invoice: Invoice, now: number): number {
  if (invoice.paidAt !== null || invoice.dueAt >= now) {
    return 0;
  }
  return Math.floor((now - invoice.dueAt) / DAY_MS);
}

export function gatewayHeaders(): Record<string, string> {
  return { authorization: `Bearer ${PAYMENT_TOKEN}`, accept: "application/json" };
}

export class Invoices {
  constructor(
    private readonly pool: Pool,
    private readonly customers: CustomerSource,
    private readonly mailer: Mailer,
    private readonly limits: Limits,
  ) {}

  async byState(customerId: string, state: string, wanted: number): Promise<Invoice[]> {
    const client = await this.pool.connect();
    try {
      return await client.query<Invoice>(
        "SELECT * FROM invoices WHERE customer_id = $1 AND state = $2 ORDER BY due_at LIMIT $3",
        [customerId, state, Math.min(wanted, MAX_ROWS)],
      );
    } finally {
      client.release();
    }
  }

  async matching(reference: string): Promise<Invoice[]> {
    const client = await this.pool.connect();
    try {
      return await client.query<Invoice>("SELECT * FROM invoices WHERE reference = $1 LIMIT 100", [reference]);
    } finally {
      client.release();
    }
  }

  async annotate(invoiceId: string, note: string): Promise<void> {
    if (note.length > MAX_NOTE) {
      throw new RangeError("note is too long");
    }
    const client = await this.pool.connect();
    try {
      await client.query("UPDATE invoices SET note = $1 WHERE id = $2", [note, invoiceId]);
    } finally {
      client.release();
    }
  }

  async remind(invoice: Invoice, now: number): Promise<boolean> {
    const days = overdueDays(invoice, now);
    if (days === 0) {
      return false;
    }
    await this.limits.rateLimiter.consume(invoice.customerId);
    const customer = await this.customers.getOne(invoice.customerId);
    const name = this.limits.escape(customer.name);
    const note = invoice.note === null ? "" : `<p>${this.limits.escape(invoice.note)}</p>`;
    await this.mailer.send(customer.email, "Reminder", `<p>${name}, ${days} days have passed.</p>${note}`);
    return true;
  }

  async statement(invoices: readonly Invoice[]): Promise<string[]> {
    const customers = await this.customers.getMany(invoices.map((invoice) => invoice.customerId));
    return invoices.map((invoice) => {
      const customer = customers.get(invoice.customerId);
      if (customer === undefined) {
        throw new InvoiceError(`no customer for ${invoice.id}`);
      }
      return `${customer.name}: ${invoice.cents}`;
    });
  }
}
