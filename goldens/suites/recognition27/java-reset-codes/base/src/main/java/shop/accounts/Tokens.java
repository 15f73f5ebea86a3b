package shop.accounts;

import java.security.SecureRandom;
import java.util.Base64;

/** Makes the tokens that stand for a customer. */
public final class Tokens {
    private static final int SESSION_BYTES = 24;

    private final SecureRandom source = new SecureRandom();

    /** A token for a session; nobody types it. */
    public String session() {
        byte[] bytes = new byte[SESSION_BYTES];
        source.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
