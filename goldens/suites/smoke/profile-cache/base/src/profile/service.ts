import type { Identity, Profile, ProfileSource } from "./types";

export class UnknownUserError extends Error {
  constructor(identity: Identity) {
    super(`no user ${identity.userId} in tenant ${identity.tenantId}`);
    this.name = "UnknownUserError";
  }
}

export class ProfileService {
  constructor(private readonly source: ProfileSource) {}

  async load(identity: Identity): Promise<Profile> {
    const profile = await this.source.read(identity);
    if (profile === undefined) {
      throw new UnknownUserError(identity);
    }
    return profile;
  }
}
