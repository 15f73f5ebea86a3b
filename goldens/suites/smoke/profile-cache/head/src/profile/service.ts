import { ProfileCache } from "./cache";
import type { Identity, Profile, ProfileSource } from "./types";

export class UnknownUserError extends Error {
  constructor(identity: Identity) {
    super(`no user ${identity.userId} in tenant ${identity.tenantId}`);
    this.name = "UnknownUserError";
  }
}

export class ProfileService {
  constructor(
    private readonly source: ProfileSource,
    private readonly cache: ProfileCache = new ProfileCache(),
  ) {}

  async load(identity: Identity): Promise<Profile> {
    const cached = this.cache.get(identity);
    if (cached !== undefined) {
      return cached;
    }
    const profile = await this.source.read(identity);
    if (profile === undefined) {
      throw new UnknownUserError(identity);
    }
    this.cache.set(identity, profile);
    return profile;
  }
}
