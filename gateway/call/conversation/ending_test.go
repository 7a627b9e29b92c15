package conversation

import (
	"testing"
	"time"

	"hovor/gateway/provider"
	"hovor/signaling/realtime"
)

func TestRow6_4_AForgottenCallIsWarnedAndEnded(t *testing.T) {
	for name, c := range map[string]struct {
		limits Limits
		reason EndReason
		before time.Duration
	}{
		"too long": {Limits{Duration: 10 * time.Minute, Idle: -1}, MaxDuration, warnDuration},
		"silent":   {Limits{Duration: -1, Idle: 5 * time.Minute}, Idle, warnIdle},
	} {
		t.Run(name, func(t *testing.T) {
			d := ready(t, func(cfg *Config) { cfg.Limits = c.limits })
			d.take()
			end := max(c.limits.Duration, c.limits.Idle)
			d.wait(end - c.before - time.Second)
			d.never("c:hovor.ending")
			d.wait(2 * time.Second)
			w := toClient[*realtime.HovorEnding](d)
			if w.Reason != string(c.reason) || w.Message == "" || w.InMS != ms(c.before) {
				t.Errorf("warning %s", jsonOf(w))
			}
			d.take()
			d.wait(c.before - 2*time.Second)
			d.never("c:hovor.ending", "c:hovor.ended")
			d.wait(2 * time.Second)
			if e := toClient[*realtime.HovorEnded](d); e.Reason != string(c.reason) || e.Message == "" {
				t.Errorf("end %s", jsonOf(e))
			}
			d.want("c:hovor.ended", "close:"+string(c.reason))
		})
	}
}

func TestAWordPutsTheIdleEndOff(t *testing.T) {
	d := ready(t, func(cfg *Config) { cfg.Limits = Limits{Idle: 5 * time.Minute} })
	d.wait(5*time.Minute - 10*time.Second)
	d.want("c:hovor.ending")
	d.client(&realtime.ConversationItemCreate{Item: realtime.UserText("I am here")})
	d.wait(4 * time.Minute)
	d.never("c:hovor.ending", "c:hovor.ended")
	d.wait(45 * time.Second)
	d.want("c:hovor.ending")
	if _, ok := d.s.Deadline(); !ok {
		t.Error("no end is set")
	}
}

func TestRow6_11_ARenewedProviderIsNotTheEnd(t *testing.T) {
	d := ready(t, nil)
	d.do(ProviderNoticed{Kind: string(provider.Expiring), In: 50 * time.Second})
	if p := toClient[*realtime.HovorProvider](d); p.State != "expiring" || p.InMS != 50_000 {
		t.Errorf("told %s", jsonOf(p))
	}
	d.take()
	d.do(ProviderNoticed{Kind: string(provider.Renewing)}) // its own idea, at a quiet moment
	d.do(ProviderNoticed{Kind: string(provider.Renewed)})
	d.never("c:hovor.provider", "c:hovor.state")
	d.do(ProviderNoticed{Kind: string(provider.Renewing), Class: "lost", Sentence: "It is being made again."})
	if p := toClient[*realtime.HovorProvider](d); p.State != "renewing" || p.Message == "" || d.s.Snapshot().Phase != "reconnecting" {
		t.Errorf("told %s, phase %s", jsonOf(p), d.s.Snapshot().Phase)
	}
	d.do(ProviderNoticed{Kind: string(provider.Renewed)})
	if p := toClient[*realtime.HovorProvider](d); p.State != "connected" || d.s.Snapshot().Phase != "listening" {
		t.Errorf("told %s, phase %s", jsonOf(p), d.s.Snapshot().Phase)
	}
	d.do(ProviderNoticed{Kind: string(provider.AudioLost), Sentence: "Some may be missing."})
	if p := toClient[*realtime.HovorProvider](d); p.Reason != "audio_lost" || p.Message == "" {
		t.Errorf("told %s", jsonOf(p))
	}
}
