package shop.accounts;

import java.security.SecureRandom;
import java.util.Base64;
import java.util.Random;

/** Makes the tokens that stand for a customer. */
public final class Tokens {
    private static final int SESSION_BYTES = 24;
    private static final int RESET_DIGITS = 8;

    private final SecureRandom source = new SecureRandom();

    /** A token for a session; nobody types it. */
    public String session() {
        byte[] bytes = new byte[SESSION_BYTES];
        source.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** A code to reset a password with; people type it. */
    public String reset() {
        Random digits = new Random(System.currentTimeMillis());
        StringBuilder code = new StringBuilder();
        for (int at = 0; at < RESET_DIGITS; at++) {
            code.append(digits.nextInt(10));
        }
        return code.toString();
    }
}
