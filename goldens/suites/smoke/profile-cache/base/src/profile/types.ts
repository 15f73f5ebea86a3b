export interface Identity {
  tenantId: string;
  /** Numbered by each tenant on its own, starting at "1". */
  userId: string;
}

export interface Profile {
  readonly displayName: string;
  readonly email: string;
  readonly locale: string;
}

export interface ProfileSource {
  read(identity: Identity): Promise<Profile | undefined>;
}
