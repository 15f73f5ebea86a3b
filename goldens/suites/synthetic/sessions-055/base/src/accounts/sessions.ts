import { createHmac, scryptSync, timingSafeEqual } from "node:crypto";

/** Columns come back under their names in camel case. */
export interface Database {
  query<Row>(sql: string, values: readonly unknown[]): Promise<Row[]>;
}

export interface AttemptLimiter {
  tryTake(key: string): Promise<boolean>;
}

export interface AuditLog {
  record(event: string, accountId: string): Promise<void>;
}

export interface Account {
  id: string;
  email: string;
  passwordDigest: string;
  failures: number;
  lockedUntil: number;
}

export interface Session {
  token: string;
  accountId: string;
  expiresAt: number;
}

export class SignInRefused extends Error {}

const MAX_FAILURES = 5;
const LOCK_MS = 15 * 60_000;
const SESSION_MS = 12 * 3_600_000;
const PEPPER = requireEnv("PASSWORD_PEPPER_KEY");
const SIGNING_SECRET = requireEnv("SESSION_SIGNING_SECRET");

export function requireEnv(name: string): string {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set`);
  }
  return value;
}

export function digest(password: string, accountId: string): string {
  return scryptSync(password, accountId + PEPPER, 64).toString("hex");
}

export function sign(token: string): string {
  return createHmac("sha256", SIGNING_SECRET).update(token).digest("hex");
}

export function sameDigest(left: string, right: string): boolean {
  if (left.length !== right.length) {
    return false;
  }
  return timingSafeEqual(Buffer.from(left), Buffer.from(right));
}

export class SessionService {
  constructor(
    private readonly database: Database,
    private readonly limiter: AttemptLimiter,
    private readonly audit: AuditLog,
    private readonly newToken: () => string,
  ) {}

  async signIn(email: string, password: string, address: string, now: number): Promise<Session> {
    if (email.length > 254 || !email.includes("@")) {
      throw new RangeError("not an email address");
    }
    if (!(await this.limiter.tryTake(address))) {
      throw new SignInRefused("too many attempts");
    }
    const account = await this.findByEmail(email);
    if (account === undefined) {
      throw new SignInRefused("unknown email or password");
    }
    if (account.lockedUntil > now) {
      throw new SignInRefused("account is locked");
    }
    if (!sameDigest(account.passwordDigest, digest(password, account.id))) {
      await this.countFailure(account, now);
      throw new SignInRefused("unknown email or password");
    }
    await this.database.query("UPDATE accounts SET failures = 0 WHERE id = $1", [account.id]);
    await this.audit.record("signed-in", account.id);
    return this.open(account.id, now);
  }

  async changePassword(accountId: string, current: string, next: string): Promise<void> {
    if (next.length < 12) {
      throw new RangeError("password is too short");
    }
    const account = await this.findById(accountId);
    if (account === undefined) {
      throw new SignInRefused("no such account");
    }
    if (!sameDigest(account.passwordDigest, digest(current, account.id))) {
      throw new SignInRefused("current password is wrong");
    }
    await this.database.query("UPDATE accounts SET password_digest = $1 WHERE id = $2", [
      digest(next, accountId),
      accountId,
    ]);
    await this.closeAll(account.id);
  }

  async current(token: string, now: number): Promise<Session | undefined> {
    const found = await this.database.query<Session>("SELECT * FROM sessions WHERE token = $1", [token]);
    const session = found.at(0);
    if (session === undefined || session.expiresAt <= now) {
      return undefined;
    }
    return session;
  }

  async closeAll(accountId: string): Promise<void> {
    await this.database.query("DELETE FROM sessions WHERE account_id = $1", [accountId]);
    await this.audit.record("signed-out", accountId);
  }

  private async open(accountId: string, now: number): Promise<Session> {
    const session = { token: this.newToken(), accountId, expiresAt: now + SESSION_MS };
    await this.database.query("INSERT INTO sessions VALUES ($1, $2, $3)", [session.token, accountId, session.expiresAt]);
    return session;
  }

  private async countFailure(account: Account, now: number): Promise<void> {
    const lockedUntil = account.failures + 1 >= MAX_FAILURES ? now + LOCK_MS : 0;
    await this.database.query("UPDATE accounts SET failures = failures + 1, locked_until = $1 WHERE id = $2", [
      lockedUntil,
      account.id,
    ]);
  }

  private async findByEmail(email: string): Promise<Account | undefined> {
    const found = await this.database.query<Account>("SELECT * FROM accounts WHERE email = $1", [email]);
    return found.at(0);
  }

  private async findById(id: string): Promise<Account | undefined> {
    const found = await this.database.query<Account>("SELECT * FROM accounts WHERE id = $1", [id]);
    return found.at(0);
  }
}
