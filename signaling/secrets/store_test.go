package secrets

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hovor/signaling/realtime"
)

func TestASecretOpensCallsUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New[string](0)
		token, expires, err := s.Mint("alice", 0, false)
		if err != nil || !strings.HasPrefix(token, "ek_") || !expires.Equal(time.Now().Add(600*time.Second)) {
			t.Fatalf("minted %d bytes until %v: %v", len(token), expires, err)
		}
		for range 2 {
			if who, err := s.Redeem(token); who != "alice" || err != nil {
				t.Fatalf("%q, %v", who, err)
			}
		}
		time.Sleep(600*time.Second - 1)
		if _, err := s.Redeem(token); err != nil {
			t.Errorf("just before the end: %v", err)
		}
		time.Sleep(1)
		if who, err := s.Redeem(token); !errors.Is(err, ErrExpired) || who != "" {
			t.Errorf("at the end: %q, %v", who, err)
		}
		time.Sleep(graceful)
		if _, _, err := s.Mint("bob", MinTTL, false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Redeem(token); !errors.Is(err, ErrUnknown) {
			t.Errorf("long after: %v", err)
		}
	})
}

func TestAOneUseSecretOpensOneCall(t *testing.T) {
	s := New[string](0)
	token, _, err := s.Mint("alice", MinTTL, true)
	if err != nil {
		t.Fatal(err)
	}
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch who, err := s.Redeem(token); {
			case err == nil && who == "alice":
				won.Add(1)
			case !errors.Is(err, ErrUsed):
				t.Errorf("%q, %v", who, err)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Errorf("%d redeemed it", won.Load())
	}
}

func TestWhatWasNotIssuedHereIsUnknown(t *testing.T) {
	s, other := New[int](0), New[int](0)
	foreign, _, _ := other.Mint(1, 0, false)
	for _, token := range []string{"", "ek_", "ek_guess", "sk-key", foreign, foreign + "x"} {
		if _, err := s.Redeem(token); !errors.Is(err, ErrUnknown) {
			t.Errorf("%d bytes: %v", len(token), err)
		}
	}
}

func TestTimesToLiveAreBounded(t *testing.T) {
	s := New[int](0)
	for ttl, ok := range map[time.Duration]bool{
		9 * time.Second: false, MinTTL: true, MaxTTL: true, MaxTTL + time.Second: false, -time.Second: false,
	} {
		if _, _, err := s.Mint(1, ttl, false); (err == nil) != ok {
			t.Errorf("%v: %v", ttl, err)
		}
	}
}

func TestAFullStoreRefusesAndExpiredSecretsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New[int](3)
		for i := range 3 {
			if _, _, err := s.Mint(i, MinTTL*time.Duration(1+i), false); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := s.Mint(9, 0, false); !errors.Is(err, ErrFull) {
			t.Errorf("a fourth: %v", err)
		}
		time.Sleep(MinTTL)
		if _, _, err := s.Mint(9, 0, false); err != nil {
			t.Errorf("after one expired: %v", err)
		}
		if s.Len() != 3 {
			t.Errorf("holds %d", s.Len())
		}
	})
}

func TestErrorsAreRepliesThatSayWhatToDo(t *testing.T) {
	for err, code := range map[*realtime.Error]string{ErrUnknown: "invalid_credential", ErrExpired: "expired_credential", ErrUsed: "used_credential"} {
		if err.Status != 401 || err.Code != code || !strings.Contains(err.Message, "mint") {
			t.Errorf("%+v", err)
		}
	}
}

func TestWhoOpenedACallMayStillEndIt(t *testing.T) {
	s := New[string](0)
	token, _, err := s.Mint("alice", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Redeem(token); err != nil {
		t.Fatal(err)
	}
	if who, err := s.Recall(token); who != "alice" || err != nil {
		t.Errorf("a spent secret must still say whose it was: %q, %v", who, err)
	}
	if _, err := s.Redeem(token); err == nil {
		t.Error("recalling must not make a spent secret good again")
	}
	if _, err := s.Recall("ek_guess"); err == nil {
		t.Error("nobody holds a secret that was never issued")
	}
}

func TestOneOwnerCannotTakeAllTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New[string](0)
		first := ""
		for i := range DefaultCapacity {
			ttl := MaxTTL
			if i == 0 {
				ttl = MinTTL
			}
			token, _, err := s.MintFor("bob", "bob", ttl, false)
			if i == 0 {
				first = token
			}
			if i < ownerCapacity && err != nil || i >= ownerCapacity && !errors.Is(err, ErrFull) {
				t.Fatalf("bob's secret %d: %v", i, err)
			}
		}
		token, _, err := s.MintFor("alice", "alice", 0, false)
		if err != nil {
			t.Fatalf("bob leaves alice no room: %v", err)
		}
		time.Sleep(MinTTL)
		if _, _, err := s.MintFor("bob", "bob", 0, false); err != nil {
			t.Errorf("what has expired must make room: %v", err)
		}
		if _, err := s.Redeem(first); !errors.Is(err, ErrUnknown) {
			t.Errorf("the one that made room: %v", err)
		}
		if who, err := s.Redeem(token); who != "alice" || err != nil {
			t.Errorf("alice's: %q, %v", who, err)
		}
		time.Sleep(MaxTTL + graceful)
		if _, _, err := s.MintFor("alice", "alice", 0, false); err != nil || s.Len() != 1 || len(s.owned) != 1 {
			t.Errorf("%d secrets of %d owners are left, %v", s.Len(), len(s.owned), err)
		}
	})
}
