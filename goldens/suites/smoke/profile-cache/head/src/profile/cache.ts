import type { Identity, Profile } from "./types";

interface Entry {
  profile: Profile;
  expiresAt: number;
}

/** Keeps profiles in memory for a short time; a change to one shows after `ttlMs` at the latest. */
export class ProfileCache {
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly ttlMs: number = 30_000,
    private readonly now: () => number = Date.now,
  ) {}

  get(identity: Identity): Profile | undefined {
    const entry = this.entries.get(this.key(identity));
    if (entry === undefined || entry.expiresAt <= this.now()) {
      return undefined;
    }
    return entry.profile;
  }

  set(identity: Identity, profile: Profile): void {
    this.entries.set(this.key(identity), { profile, expiresAt: this.now() + this.ttlMs });
  }

  private key(identity: Identity): string {
    return `profile:${identity.userId}`;
  }
}
